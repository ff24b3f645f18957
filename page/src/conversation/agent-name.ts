import { createContext } from 'react';

/** Name of the agent that the session belongs to. */
export const AgentName = createContext('Agent');
