// The desk's data: partner companies and programs that are fixed, and the leads.
import type { Lead } from './leads.ts';
import { openLeads } from './leads.ts';

export interface Company {
  readonly id: string;
  readonly name: string;
  readonly city: string;
  readonly field: string;
}

/** A company as the desk finds it: with the leads it has. */
export interface Found extends Company {
  readonly leads: readonly Pick<Lead, 'lead' | 'program'>[];
}

export const programs: readonly string[] = ['Growth', 'Gold', 'Startup'];

const companies: readonly Company[] = [
  { id: 'acme-robotics', name: 'Acme Robotics', city: 'Berlin', field: 'warehouse robots' },
  { id: 'acme-logistics', name: 'Acme Logistics', city: 'Rotterdam', field: 'freight' },
  { id: 'nordwind', name: 'Nordwind Energy', city: 'Hamburg', field: 'wind parks' },
  { id: 'blue-harbor', name: 'Blue Harbor Software', city: 'Hamburg', field: 'port software' },
  { id: 'kaefer', name: 'Käfer & Söhne', city: 'Munich', field: 'catering' },
  { id: 'lumen', name: 'Lumen Optics', city: 'Jena', field: 'lenses' },
  { id: 'spreewerk', name: 'Spreewerk Design', city: 'Berlin', field: 'product design' },
  { id: 'tinkerbox', name: 'Tinkerbox', city: 'Berlin', field: 'learning kits' },
  { id: 'vela', name: 'Vela Health', city: 'Vienna', field: 'clinic software' },
  { id: 'alpenglow', name: 'Alpenglow Outdoor', city: 'Innsbruck', field: 'mountain gear' },
  { id: 'delta-print', name: 'Delta Print', city: 'Leipzig', field: 'packaging' },
  { id: 'oriole', name: 'Oriole Analytics', city: 'Zurich', field: 'market data' },
];

/** A lead with the name of its company. */
export interface NamedLead extends Lead {
  readonly company: string;
}

/** The companies and their leads. */
export interface Directory {
  search(words: string): readonly Found[];
  /** A call that asks again with its key gets the lead that it made. */
  createLead(wanted: { readonly companyId: string; readonly program: string }, key: string): NamedLead;
  /** A call that asks again with its key gets the lead that it deleted. */
  deleteLead(lead: number, key: string): NamedLead;
  /** The lead that the call with this key made; undefined if it made none. */
  leadMadeBy(key: string): NamedLead | undefined;
  leads(): readonly Lead[];
  close(): void;
}

// "Kaefer", "Käfer" and "kafer" are the same company to a person.
const plain = (text: string): string => text.toLowerCase().replaceAll('ae', 'a').normalize('NFD').replaceAll(/\p{M}/gu, '');

const findCompany = (id: string): Company => {
  const company = companies.find((other) => other.id === id);
  if (company === undefined) throw new Error(`There is no company with the id "${id}". Search for it first.`);
  return company;
};

function findProgram(wanted: string): string {
  const program = programs.find((name) => plain(name) === plain(wanted));
  if (program === undefined) throw new Error(`There is no program "${wanted}"; there are ${programs.join(', ')}.`);
  return program;
}

const withCompanyName = (lead: Lead): NamedLead => ({ ...lead, company: findCompany(lead.companyId).name });

/** The directory, with its leads in a file or, without one, in memory. */
export function createDirectory(file?: string): Directory {
  const leads = openLeads(file);
  return {
    search: (words) => {
      const wanted = plain(words)
        .split(/\s+/)
        .filter((word) => word !== '');
      const fits = (company: Company): boolean => wanted.every((word) => plain(`${company.name} ${company.city}`).includes(word));
      const all = leads.all();
      return companies.filter(fits).map((company) => ({
        ...company,
        leads: all.filter(({ companyId }) => companyId === company.id).map(({ lead, program }) => ({ lead, program })),
      }));
    },
    createLead: ({ companyId, program }, key) =>
      withCompanyName(leads.create({ companyId: findCompany(companyId).id, program: findProgram(program) }, key)),
    deleteLead: (number, key) => withCompanyName(leads.delete(number, key)),
    leadMadeBy: (key) => {
      const lead = leads.createdBy(key);
      return lead && withCompanyName(lead);
    },
    leads: () => leads.all(),
    close: () => {
      leads.close();
    },
  };
}

/** A directory whose search always fails. */
export const createBrokenDirectory = (): Directory => ({
  ...createDirectory(),
  search: () => {
    throw new Error('The index is being rebuilt.');
  },
});
