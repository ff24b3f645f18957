// The SDK that the sources use: the copy beside the tests of engines does not know its handlers.
export { createEndpointHandler } from '@restatedev/restate-sdk';
