// The leads in a table of their own: the tools' world, which knows nothing of conversations and outlives them.
// L1. Each change carries the key of the call that asked for it: asked for again, it gives what it gave, and changes nothing.
// L2. A deleted lead keeps its row, so that its number is never given twice.
import { DatabaseSync } from 'node:sqlite';

export interface Lead {
  readonly lead: number;
  readonly companyId: string;
  readonly program: string;
}

export interface Leads {
  all(): readonly Lead[];
  create(wanted: Omit<Lead, 'lead'>, key: string): Lead;
  delete(lead: number, key: string): Lead;
  /** The lead that the call with this key made. */
  createdBy(key: string): Lead | undefined;
  close(): void;
}

const firstLeads: readonly Lead[] = [
  { lead: 1, companyId: 'acme-robotics', program: 'Growth' },
  { lead: 2, companyId: 'tinkerbox', program: 'Startup' },
  { lead: 3, companyId: 'vela', program: 'Gold' },
];

const schema = `CREATE TABLE leads (
  lead INTEGER PRIMARY KEY, company TEXT NOT NULL, program TEXT NOT NULL, created_by TEXT UNIQUE, deleted_by TEXT UNIQUE
) STRICT`;

const columns = 'lead, company AS companyId, program';

function prepare(database: DatabaseSync): void {
  database.exec('PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL');
  transact(database, () => {
    if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'leads'").get() !== undefined) return;
    database.exec(schema);
    const add = database.prepare('INSERT INTO leads (lead, company, program) VALUES (?, ?, ?)');
    for (const { lead, companyId, program } of firstLeads) add.run(lead, companyId, program);
  });
}

function transact<Value>(database: DatabaseSync, work: () => Value): Value {
  database.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    database.exec('COMMIT');
    return value;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** Opens the leads, or makes them. Without a file they are kept in memory. */
export function openLeads(file = ':memory:'): Leads {
  const database = new DatabaseSync(file);
  prepare(database);
  // Holds: the columns are named as the fields of a lead.
  const find = (where: string, ...values: (string | number)[]): readonly Lead[] =>
    database.prepare(`SELECT ${columns} FROM leads WHERE ${where} ORDER BY lead`).all(...values) as readonly unknown[] as readonly Lead[];
  const copy = ({ lead, companyId, program }: Lead): Lead => ({ lead, companyId, program });

  function insert({ companyId, program }: Omit<Lead, 'lead'>, key: string): Lead {
    const [same] = find('company = ? AND program = ? AND deleted_by IS NULL', companyId, program);
    if (same !== undefined) throw new Error(`The company is in the program ${program} already: lead ${same.lead}.`);
    const { lastInsertRowid } = database
      .prepare('INSERT INTO leads (company, program, created_by) VALUES (?, ?, ?)')
      .run(companyId, program, key);
    return { lead: Number(lastInsertRowid), companyId, program };
  }

  function remove(number: number, key: string): Lead {
    const [lead] = find('lead = ? AND deleted_by IS NULL', number);
    if (lead === undefined) throw new Error(`There is no lead ${number}.`);
    database.prepare('UPDATE leads SET deleted_by = ? WHERE lead = ?').run(key, number);
    return copy(lead);
  }

  const createdBy = (key: string): Lead | undefined => find('created_by = ?', key).map(copy).at(0);
  const deletedBy = (key: string): Lead | undefined => find('deleted_by = ?', key).map(copy).at(0);
  return {
    all: () => find('deleted_by IS NULL').map(copy),
    create: (wanted, key) => transact(database, () => createdBy(key) ?? insert(wanted, key)),
    delete: (lead, key) => transact(database, () => deletedBy(key) ?? remove(lead, key)),
    createdBy,
    close: () => {
      database.close();
    },
  };
}
