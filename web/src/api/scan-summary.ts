import type { Scan } from '@palisade/contract/antivirus';

/** The engines of a record by name and version: "YARA-X 1.9 and ClamAV 1.4.6". */
export function describeEngines({ engines }: Scan): string {
  return new Intl.ListFormat('en').format(engines.map(({ name, version }) => `${name} ${version}`));
}
