import { englishOf, type Template } from './phrase.ts';

const CODE = /^[a-z_\d]+(\.[a-z_\d]+)*$/u;
const TEXTS = ['“x” & $1'];
const NUMBERS = [1, 2, 7_200];

function formsOf({ english }: Template): string[] {
  return typeof english === 'string' ? [english] : [english.one, english.other];
}

/** Every combination of the choices, with sample values for the other parameters. */
function valuesOf({ params = {} }: Template): Record<string, string | number>[] {
  let all: Record<string, string | number>[] = [{}];
  for (const [name, parameter] of Object.entries(params)) {
    const isText = parameter === 'text' || parameter === 'names';
    const values = typeof parameter === 'object' ? Object.keys(parameter) : isText ? TEXTS : NUMBERS;
    all = all.flatMap((some) => values.map((value) => ({ ...some, [name]: value })));
  }
  return all;
}

/** For tests: the faults of a template. It must use exactly its declared parameters, and give valid English for each of their values. */
export function templateFaults(code: string, template: Template): string[] {
  const faults: string[] = [];
  if (!CODE.test(code)) faults.push(`${code} has the form of no code.`);
  const used = new Set(formsOf(template).flatMap((form) => [...form.matchAll(/\{(.*?)\}/gu)].map(([, name]) => name ?? '')));
  if (typeof template.english !== 'string') used.add(template.english.count);
  const [written, named] = [[...used].sort(), Object.keys(template.params ?? {}).sort()];
  if (written.join() !== named.join()) faults.push(`${code} uses ${written.join()} and names ${named.join()}.`);
  for (const values of valuesOf(template)) {
    const english = englishOf(template, values);
    if (english === '' || /[{}]|undefined|null|NaN|^\s|\s$| {2}/u.test(english)) faults.push(`${code} says: ${english}`);
  }
  return faults;
}
