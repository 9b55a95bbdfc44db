import { type Config, useConfig } from './config.ts';

/** Name of the product until an administrator names the provider. */
export const UNCONFIGURED_NAME = 'Palisade';
/** A contact that reaches nobody (numbers and names that are reserved for examples), until Admin Setup gives the provider's own. */
const EXAMPLE = { phone: '+1 555-0100', email: 'support@example.com', promise: '' };

export interface SupportContact {
  phone: string;
  email: string;
  promise: string;
  /** It stands where the provider's own will. */
  is_example: boolean;
}

export function supportOf({ provider_name, support }: Pick<Config, 'provider_name' | 'support'>): SupportContact {
  const is_example = provider_name === UNCONFIGURED_NAME && support.phone === '' && support.email === '';
  return { ...(is_example ? EXAMPLE : support), is_example };
}

/** Whom a person asks; undefined until the server has answered. */
export function useSupportContact(): SupportContact | undefined {
  const config = useConfig();
  return config && supportOf(config);
}
