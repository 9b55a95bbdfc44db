import { type Rule, type RuleFile, ruleFileSchema } from '@palisade/contract/firewall';

/** The file of rules that Palisade itself reads again. */
export function ruleFileOf(all: readonly Rule[]) {
  const rules = all.map(({ rule_name, direction, action, protocol, source_ip, destination_ip, port, enabled }) => ({
    rule_name,
    direction,
    action,
    protocol,
    source_ip,
    destination_ip,
    port,
    enabled,
  }));
  const file: RuleFile = { palisade_rules: 1, rules };
  return { file_name: 'palisade-rules.json', text: `${JSON.stringify(file, null, 2)}\n`, left_out: [] };
}

/** Maximum size of a file of rules, in bytes. */
const FILE_MAXIMUM = 20 * 1024 ** 2;
/** Number of error messages that are shown. */
const MESSAGES_SHOWN = 5;

export type RuleFileReading = { ok: true; file: RuleFile } | { ok: false; messages: string[] };

/** Reads a file of rules: its content, or error messages with the number of the rule. */
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
  // A file without the marker or a list of rules is another kind of file, so further errors would not help.
  const isOther = issues.some(({ path, code }) => path[0] !== 'rules' || (path.length === 1 && code === 'invalid_type'));
  if (isOther) return { ok: false, messages: ['This isn’t a Palisade rules file. Choose a file exported from Palisade.'] };
  const messages = issues.map(({ path: [, index, field], message }) =>
    typeof index === 'number' ? `Rule ${index + 1}${typeof field === 'string' ? `, ${field}` : ''}: ${message}` : message,
  );
  const more = messages.length - MESSAGES_SHOWN;
  return { ok: false, messages: [...messages.slice(0, MESSAGES_SHOWN), ...(more > 0 ? [`And ${more} more.`] : [])] };
}
