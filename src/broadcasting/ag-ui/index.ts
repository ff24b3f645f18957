export type { AgUiEvent, AgUiInterrupt, AgUiMessage } from './ag-ui-event.ts';
export { createAgUiHandler } from './ag-ui-handler.ts';
export type { AgUiMapper, AgUiMapperOptions } from './create-ag-ui-mapper.ts';
export { createAgUiMapper } from './create-ag-ui-mapper.ts';
export type { AgUiHandlerOptions } from './handler-options.ts';
export { toAgUiMessages } from './to-messages.ts';
