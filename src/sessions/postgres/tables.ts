// The tables, and how damage to a row is found.
// Owns:     the tables, and the checksum that every row has over its columns; those of a lease are outside of it.
// Does not: read or write them.
import type { ColumnKind, StoredTable } from '../index.ts';
import { feedSum } from '../index.ts';
import { listColumns, listKinds, mostInFeedPage, withChecksum } from '../table/index.ts';

// Text is compared byte by byte: an index that follows the rules of a language breaks when the system's rules change.
const text = 'text COLLATE "C"';

// Numbers are as exact as in JavaScript; integers only if the port says so.
const types: Readonly<Record<ColumnKind, string>> = { text, count: 'bigint', flag: 'smallint', number: 'double precision' };

/** Columns of a table with their types. */
export const typedColumns = (table: StoredTable, columns: readonly string[] = listColumns(table)): string =>
  listKinds(table)
    .filter(([name]) => columns.includes(name))
    .map(([name, kind]) => `${name} ${types[kind]}`)
    .join(', ');

/** Quotes a name that was checked. */
const quote = (name: string): string => `"${name}"`;

type OtherName = 'writers' | 'workers' | 'session_num' | 'feed' | 'unfed' | 'feed_counter' | 'feed_add' | 'feed_number' | 'feed_remove';

/** Names something in its schema. */
export const inSchema = (schema: string, name: StoredTable | OtherName): string => `${quote(schema)}.${name}`;

/** The release of the tables that this code works with. */
export const schemaVersion = 4;

// Rows that are updated with each step get room beside them, so that their indexes stay as they are.
const updated = 'WITH (fillfactor = 50)';

/**
 * Creates the tables of the order in which entries were committed, which the database fills. A trigger notes new entries in `unfed`, where no
 * batch waits for another. Whoever reads the feed calls `feed_number` before, which moves what is committed into the feed, one caller at a
 * time: so numbers have no gap, and nothing ever appears before a number that was read. Returns true if more may be left.
 */
function createFeed(schema: string): string {
  const [feed, unfed, log, counter] = [
    inSchema(schema, 'feed'),
    inSchema(schema, 'unfed'),
    inSchema(schema, 'log'),
    inSchema(schema, 'feed_counter'),
  ];
  const [add, number, remove] = [inSchema(schema, 'feed_add'), inSchema(schema, 'feed_number'), inSchema(schema, 'feed_remove')];
  const lock = `PERFORM pg_advisory_xact_lock(hashtextextended('stepline numbers ${schema}', 0));`;
  return `
    CREATE TABLE ${counter} (num bigint) ${updated};
    INSERT INTO ${counter} VALUES (0);
    CREATE TABLE ${feed} (num bigint PRIMARY KEY, session bigint, n bigint, sum bigint, UNIQUE (session, n));
    CREATE TABLE ${unfed} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session bigint, n bigint);
    CREATE INDEX unfed_session ON ${unfed} (session);
    CREATE FUNCTION ${add}() RETURNS trigger LANGUAGE plpgsql AS $feed$ BEGIN
      INSERT INTO ${unfed} (session, n) SELECT session, n FROM added WHERE events IS NOT NULL ORDER BY session, n;
      RETURN NULL;
    END $feed$;
    CREATE FUNCTION ${number}() RETURNS boolean LANGUAGE plpgsql AS $feed$ DECLARE seen bigint; fed bigint; taken bigint; BEGIN
      SELECT max(id) INTO seen FROM ${unfed};
      IF seen IS NULL THEN RETURN false; END IF;
      ${lock}
      IF NOT EXISTS (SELECT 1 FROM ${unfed} WHERE id <= seen) THEN RETURN false; END IF;
      PERFORM set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
      SELECT num INTO fed FROM ${counter};
      WITH
        next AS (
          DELETE FROM ${unfed} WHERE id IN (SELECT id FROM ${unfed} ORDER BY id LIMIT ${mostInFeedPage}) RETURNING id, session, n
        ),
        numbered AS (
          INSERT INTO ${feed} (num, session, n, sum)
            SELECT fed + row_number() OVER (ORDER BY id), session, n, ${feedSum('session', 'n')} FROM next
            ON CONFLICT (session, n) DO NOTHING
        )
      SELECT count(*) INTO taken FROM next;
      UPDATE ${counter} SET num = fed + taken;
      RETURN taken = ${mostInFeedPage};
    END $feed$;
    CREATE FUNCTION ${remove}() RETURNS trigger LANGUAGE plpgsql AS $feed$ BEGIN
      IF NOT EXISTS (SELECT 1 FROM removed) THEN RETURN NULL; END IF;
      ${lock}
      DELETE FROM ${unfed} u USING removed r WHERE u.session = r.session AND u.n = r.n;
      DELETE FROM ${feed} f USING removed r WHERE f.session = r.session AND f.n = r.n;
      RETURN NULL;
    END $feed$;
    CREATE TRIGGER log_added AFTER INSERT ON ${log}
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ${add}();
    CREATE TRIGGER log_removed AFTER DELETE ON ${log}
      REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION ${remove}();
  `;
}

/** Creates everything in an empty schema. */
export function createTables(schema: string): string {
  const name = (table: Parameters<typeof inSchema>[1]): string => inSchema(schema, table);
  const create = (table: StoredTable, keys = '', options = ''): string =>
    `CREATE TABLE ${name(table)} (${typedColumns(table)}${keys}) ${options};`;
  return `
    ${create('meta', ', PRIMARY KEY (name)', updated)}
    ${create('sessions', ', PRIMARY KEY (num), UNIQUE (id)', updated)}
    ${create('heads', ', PRIMARY KEY (session)', updated)}
    ${create('session_tags')}
    ${create('log', ', PRIMARY KEY (session, n)')}
    ${create('effects')}
    ${create('quarantine', ', UNIQUE (id)')}
    ${create('mail', ', PRIMARY KEY (session, num), UNIQUE (session, request_id)')}
    ${create('tombstones')}
    ${create('notes', ', PRIMARY KEY (name)', updated)}
    CREATE SEQUENCE ${name('session_num')};
    CREATE TABLE ${name('writers')} (id ${text} PRIMARY KEY, batch bigint, written_at timestamptz DEFAULT now()) ${updated};
    CREATE TABLE ${name('workers')} (
      id ${text} PRIMARY KEY, room double precision, beats bigint, beat_at timestamptz, body text,
      listener_pid int, listener_start text, server_start text, claim text, claimed text
    ) ${updated};
    CREATE INDEX heads_ready ON ${name('heads')} (ready_at, session) WHERE is_ready = 1;
    CREATE INDEX heads_owned ON ${name('heads')} (owner) WHERE owner IS NOT NULL;
    CREATE INDEX heads_blamed ON ${name('heads')} (blamed) WHERE blamed IS NOT NULL;
    CREATE INDEX sessions_tenant ON ${name('sessions')} (tenant) WHERE tenant IS NOT NULL;
    CREATE INDEX sessions_agent ON ${name('sessions')} (agent_id);
    CREATE INDEX sessions_owner ON ${name('sessions')} (owner) WHERE owner IS NOT NULL;
    CREATE INDEX sessions_status ON ${name('sessions')} (status);
    CREATE INDEX sessions_stop_reason ON ${name('sessions')} (stop_reason) WHERE stop_reason IS NOT NULL;
    CREATE INDEX sessions_open ON ${name('sessions')} (num) WHERE is_open = 1;
    CREATE INDEX sessions_wake ON ${name('sessions')} (wake_at) WHERE wake_at IS NOT NULL;
    CREATE INDEX session_tags_session ON ${name('session_tags')} (session);
    CREATE INDEX session_tags_tag ON ${name('session_tags')} (tag, session);
    CREATE INDEX log_snapshot ON ${name('log')} (session, n) WHERE is_snapshot = 1;
    CREATE UNIQUE INDEX log_request ON ${name('log')} (session, request_id) WHERE request_id IS NOT NULL;
    CREATE UNIQUE INDEX log_first ON ${name('log')} (session_id) WHERE session_id IS NOT NULL;
    CREATE INDEX effects_session ON ${name('effects')} (session);
    CREATE INDEX quarantine_session ON ${name('quarantine')} (session);
    CREATE INDEX notes_session ON ${name('notes')} (session_id) WHERE session_id IS NOT NULL;
    CREATE INDEX mail_session_id ON ${name('mail')} (session_id);
    CREATE INDEX mail_waiting ON ${name('mail')} (session, num) WHERE reply IS NULL;
    CREATE INDEX mail_refused ON ${name('mail')} (at) WHERE reply IS NOT NULL;
    CREATE INDEX tombstones_id ON ${name('tombstones')} (id);
    CREATE INDEX tombstones_copy ON ${name('tombstones')} (id_copy);
    CREATE INDEX tombstones_num ON ${name('tombstones')} (num) WHERE num IS NOT NULL;
    ${createFeed(schema)}
    INSERT INTO ${name('meta')} (name, value, sum) VALUES ('schema', ${schemaVersion}, ${Number(withChecksum('meta', ['schema', schemaVersion]).at(-1))});
  `;
}
