// Names and ids of calls in the form that providers accept. The record keeps the original.

const isValidName = (name: string): boolean => /^[a-zA-Z0-9_-]{1,64}$/.test(name);
const maxLength = 64;

/** Returns the name under which a call and its result are sent. A model may call a tool by a name that no tool could have. */
export function toSentName(name: string): string {
  if (isValidName(name)) return name;
  return name === '' ? 'unnamed' : name.slice(0, maxLength).replaceAll(/[^a-zA-Z0-9_-]/g, '_');
}

/** The form that a provider requires of call ids. */
export interface IdForm {
  isValid(id: string): boolean;
  /** Makes a valid id of any text; another one for each attempt. */
  convert(id: string, attempt: number): string;
}

// FNV-1a, 32 bits.
function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}

/** Digests a text to lower-case letters and digits, the same ones each time. */
function digest(text: string, length: number): string {
  const halves = [0x811c9dc5, 0x9e3779b9].map((seed) => hash(text, seed).toString(36).padStart(7, '0'));
  return halves.join('').slice(-length);
}

const number = (id: string, attempt: number): string => (attempt === 1 ? id : `${id}~${attempt}`);

const commonForm: IdForm = {
  isValid: isValidName,
  // Readable, and with a digest: what was replaced or cut off still tells two ids apart.
  convert: (id, attempt) => {
    const suffix = `_${digest(number(id, attempt), 8)}`;
    return `${id.slice(0, maxLength - suffix.length).replaceAll(/[^a-zA-Z0-9_-]/g, '_')}${suffix}`;
  },
};

const mistralForm: IdForm = {
  isValid: (id) => /^[a-zA-Z0-9]{9}$/.test(id),
  convert: (id, attempt) => digest(number(id, attempt), 9),
};

/** Returns the form of ids that a provider accepts. Mistral requires exactly nine letters and digits, and its package does not see to it. */
export function getIdForm(provider: string): IdForm {
  return provider.split('.')[0] === 'mistral' ? mistralForm : commonForm;
}
