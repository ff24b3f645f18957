import type { ReactElement } from 'react';

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The arguments of a call, all of them, name by name. */
export function ArgsView({ args }: { readonly args: unknown }): ReactElement {
  if (!isRecord(args)) return <pre className="args-text">{toText(args)}</pre>;
  const entries = Object.entries(args);
  if (entries.length === 0) return <p className="note">No arguments.</p>;
  return (
    <dl className="args">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={typeof value === 'string' ? 'plain' : 'plain mono'}>{toText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
