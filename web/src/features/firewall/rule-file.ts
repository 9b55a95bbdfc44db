import { type Rule, type RuleFile, ruleFileSchema } from '@palisade/contract/firewall';
import { saveFile } from '#ui/save-file.ts';

/** The file that rules are saved as. */
function ruleFileOf(rules: readonly Rule[]): RuleFile {
  return {
    palisade_rules: 1,
    rules: rules.map(({ rule_name, direction, action, protocol, source_ip, destination_ip, port, enabled }) => ({
      rule_name,
      direction,
      action,
      protocol,
      source_ip,
      destination_ip,
      port,
      enabled,
    })),
  };
}

export function saveRules(rules: readonly Rule[]): void {
  const text = `${JSON.stringify(ruleFileOf(rules), null, 2)}\n`;
  saveFile('palisade-rules.json', new Blob([text], { type: 'application/json' }));
}

/** More than this is no file of rules, in bytes. */
const FILE_MAXIMUM = 20 * 1024 ** 2;
/** Sentences about a file that are shown. */
const MESSAGES_SHOWN = 5;

export type RuleFileReading = { ok: true; file: RuleFile } | { ok: false; messages: string[] };

/** Reads a file of rules: what is in it, or what would have to be mended, by the number of the rule. */
export async function readRuleFile(file: File): Promise<RuleFileReading> {
  if (file.size > FILE_MAXIMUM) return { ok: false, messages: ['This file is too large. Choose a file exported from Palisade.'] };
  let json: unknown;
  try {
    json = JSON.parse(await file.text());
  } catch {
    return { ok: false, messages: ['This isn’t a JSON file. Choose a file exported from Palisade.'] };
  }
  const read = ruleFileSchema.safeParse(json);
  if (read.success) return { ok: true, file: read.data };
  const { issues } = read.error;
  // A file without the mark or without a list of rules is of another kind: what else differs in it is of no use to anyone.
  const isOther = issues.some(({ path, code }) => path[0] !== 'rules' || (path.length === 1 && code === 'invalid_type'));
  if (isOther) return { ok: false, messages: ['This isn’t a Palisade rules file. Choose a file exported from Palisade.'] };
  const messages = issues.map(({ path: [, index, field], message }) =>
    typeof index === 'number' ? `Rule ${index + 1}${typeof field === 'string' ? `, ${field}` : ''}: ${message}` : message,
  );
  const more = messages.length - MESSAGES_SHOWN;
  return { ok: false, messages: [...messages.slice(0, MESSAGES_SHOWN), ...(more > 0 ? [`And ${more} more.`] : [])] };
}
