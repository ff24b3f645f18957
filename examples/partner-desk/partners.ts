// The desk's data: partner companies and programs that are fixed, and leads that a session changes in memory.

export interface Company {
  readonly id: string;
  readonly name: string;
  readonly city: string;
  readonly field: string;
}

export interface Lead {
  readonly lead: number;
  readonly companyId: string;
  readonly program: string;
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

const firstLeads: readonly Lead[] = [
  { lead: 1, companyId: 'acme-robotics', program: 'Growth' },
  { lead: 2, companyId: 'tinkerbox', program: 'Startup' },
  { lead: 3, companyId: 'vela', program: 'Gold' },
];

/** The companies, and the leads of one session. */
export interface Directory {
  search(words: string): readonly Found[];
  createLead(companyId: string, program: string): Lead & { readonly company: string };
  deleteLead(lead: number): Lead & { readonly company: string };
  leads(): readonly Lead[];
  /** Takes other leads in the place of its own, from a stored session. What is no list of leads is refused. */
  takeLeads(stored: unknown): boolean;
}

// "Kaefer", "Käfer" and "kafer" are the same company to a person.
const plain = (text: string): string => text.toLowerCase().replaceAll('ae', 'a').normalize('NFD').replaceAll(/\p{M}/gu, '');

function isLead(value: unknown): value is Lead {
  if (typeof value !== 'object' || value === null) return false;
  const { lead, companyId, program } = value as Partial<Record<keyof Lead, unknown>>;
  return Number.isInteger(lead) && companies.some(({ id }) => id === companyId) && typeof program === 'string';
}

const companyOf = (id: string): Company => {
  const company = companies.find((other) => other.id === id);
  if (company === undefined) throw new Error(`There is no company with the id "${id}". Search for it first.`);
  return company;
};

export function createDirectory(): Directory {
  let leads = firstLeads;
  let lastNumber = firstLeads.length;

  return {
    search: (words) => {
      const wanted = plain(words)
        .split(/\s+/)
        .filter((word) => word !== '');
      const fits = (company: Company): boolean => wanted.every((word) => plain(`${company.name} ${company.city}`).includes(word));
      return companies.filter(fits).map((company) => ({
        ...company,
        leads: leads.filter(({ companyId }) => companyId === company.id).map(({ lead, program }) => ({ lead, program })),
      }));
    },
    createLead: (companyId, wanted) => {
      const company = companyOf(companyId);
      const program = programs.find((name) => plain(name) === plain(wanted));
      if (program === undefined) throw new Error(`There is no program "${wanted}"; there are ${programs.join(', ')}.`);
      const same = leads.find((lead) => lead.companyId === companyId && lead.program === program);
      if (same !== undefined) throw new Error(`${company.name} is in the program ${program} already: lead ${same.lead}.`);
      lastNumber += 1;
      const lead: Lead = { lead: lastNumber, companyId, program };
      leads = [...leads, lead];
      return { ...lead, company: company.name };
    },
    deleteLead: (number) => {
      const lead = leads.find((other) => other.lead === number);
      if (lead === undefined) throw new Error(`There is no lead ${number}.`);
      leads = leads.filter((other) => other !== lead);
      return { ...lead, company: companyOf(lead.companyId).name };
    },
    leads: () => leads,
    takeLeads: (stored) => {
      if (!Array.isArray(stored) || !stored.every(isLead)) return false;
      leads = stored;
      // A number is never given twice, also where the lead that had it is gone.
      lastNumber = Math.max(lastNumber, ...leads.map(({ lead }) => lead));
      return true;
    },
  };
}
