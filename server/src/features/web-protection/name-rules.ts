import { domainToASCII } from 'node:url';
import { SAFE_SEARCH, type WebPolicy, webCategorySchema } from '@palisade/contract/web-protection';
import type { LevelRules, Policy } from '@palisade/names/decide';
import { NameList, type NameSet } from '@palisade/names/name-list';
import { wireName } from '@palisade/names/wire';
import { z } from 'zod';
import { isShared } from './dangerous-names.ts';
import { SERVICES } from './services.ts';
import { refuseField } from './web-protection.refusals.ts';

/** Maximum seconds for which a device may cache an answer, so that a change takes effect within a minute. */
export const SECONDS_MAXIMUM = 60;

/** The rules of a device. `is_private`: only the person of its profile may see its refused names. */
export interface DeviceRules {
  policy: Policy;
  is_private: boolean;
}

export const listOf = (names: readonly string[]) => NameList.of(names.map(wireName).filter((name) => name !== undefined));

/** Parses stored choices. Categories and services of a newer server version are dropped. */
export function choicesOf(stored: { categories: unknown; services: unknown; safe_search: unknown }): WebPolicy {
  return {
    categories: z
      .array(z.string())
      .parse(stored.categories)
      .flatMap((one) => webCategorySchema.safeParse(one).data ?? []),
    services: z
      .array(z.string())
      .parse(stored.services)
      .filter((id) => SERVICES.some((service) => service.id === id)),
    safe_search: z.enum(SAFE_SEARCH).catch('off').parse(stored.safe_search),
  };
}

/** Extracts the domain from text that a person typed or pasted. @throws Problem `invalid_field` */
export function typedName(typed: string): string {
  const host = typed
    .replace(/^[a-z][a-z\d+.-]*:\/\//iu, '')
    .replace(/^\*?\./u, '')
    .replace(/[/?#:].*$/su, '');
  const name = domainToASCII(host).replace(/\.$/u, '');
  if (!/^(?=.{3,253}$)(?:[a-z\d_-]{1,63}\.)+[a-z\d-]{2,63}$/u.test(name) || /\.\d+$/u.test(name))
    throw refuseField('name', 'web_name.form');
  if (isShared(name)) throw refuseField('name', 'web_name.shared', { name });
  return name;
}

/** The first level of all devices: names that are known to be dangerous, except those that the provider trusts. */
export function dangerousLevel(parts: {
  dangerous: NameSet;
  provider: () => Promise<{ trusted: readonly string[]; dangerous: readonly string[] }>;
  /** The dangerous names from the setting DOMAIN_LISTS. */
  dangerousLists: () => readonly NameSet[];
}): () => Promise<LevelRules> {
  return async () => {
    const provider = await parts.provider();
    return {
      level: 'dangerous',
      allowed: listOf(provider.trusted),
      blocked: [parts.dangerous, listOf(provider.dangerous), ...parts.dangerousLists()].map((names) => ({
        category: 'dangerous',
        names,
      })),
    };
  };
}
