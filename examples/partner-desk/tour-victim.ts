// A process of the tour: begins a conversation, and is killed right after the directory made the lead, before anybody knew.
import { openHome } from './home.ts';
import { deskWith } from './tour-guide.ts';

const [, , file = '', question = ''] = process.argv;
const by = { id: 'the tour', kind: 'user' };

const { runtime } = await openHome(file, {
  desks: [await deskWith()],
  onProblem: (error) => process.stderr.write(`${String(error)}\n`),
  adapt: (directory) => ({
    ...directory,
    createLead: (wanted, key) => {
      const lead = directory.createLead(wanted, key);
      process.kill(process.pid, 'SIGKILL');
      return lead;
    },
  }),
});
const { id } = await runtime.create({}, { by });
await runtime.send(id, question, { by });
