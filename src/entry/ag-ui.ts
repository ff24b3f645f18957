export type {
  AgUiEvent,
  AgUiHandlerOptions,
  AgUiInterrupt,
  AgUiMapper,
  AgUiMapperOptions,
  AgUiMessage,
} from '../broadcasting/ag-ui/index.ts';
export { createAgUiHandler, createAgUiMapper, toAgUiMessages } from '../broadcasting/ag-ui/index.ts';
