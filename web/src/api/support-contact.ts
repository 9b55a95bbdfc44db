import { type Config, useConfig } from './config.ts';

/** Product name until an administrator names the provider. */
export const UNCONFIGURED_NAME = 'Palisade';
/** An example contact with reserved numbers and names, used until an administrator enters the provider's own. */
const EXAMPLE = { phone: '+1 555-0100', email: 'support@example.com', promise: '' };

export interface SupportContact {
  phone: string;
  email: string;
  promise: string;
  /** True if it is the example contact. */
  is_example: boolean;
}

export function supportOf({ provider_name, support }: Pick<Config, 'provider_name' | 'support'>): SupportContact {
  const is_example = provider_name === UNCONFIGURED_NAME && support.phone === '' && support.email === '';
  return { ...(is_example ? EXAMPLE : support), is_example };
}

/** The contact of support; undefined until the settings arrive. */
export function useSupportContact(): SupportContact | undefined {
  const config = useConfig();
  return config && supportOf(config);
}
