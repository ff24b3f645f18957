// A worker: runs the sessions that the server gives it. Start as many as you like, behind one address.
//   node examples/restate/worker.ts <address of the ingress> <port>
import { createServer } from 'node:http2';
import { serveSessions } from 'stepline/restate';
import { createDesk } from './agent.ts';

const [, , url = 'http://127.0.0.1:8080', port = '9080'] = process.argv;

const worker = serveSessions({ agents: [createDesk()], ingress: { url } });
const server = createServer(worker.node).listen(Number(port), '127.0.0.1');

process.once('SIGTERM', () => {
  void worker.drain().then(() => {
    server.close();
    process.exit(0);
  });
});

await worker.start();
