import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idParamsSchema, idSchema, pageQuerySchema, timeSchema } from './fields.ts';
import { EVERY, familyConflict, fieldText, type Reading, readAddresses, readPorts } from './firewall-grammar.ts';

/** Rules that one person may have: as many as one page of the list holds, so that every screen judges all of them together. */
export const RULES_MAXIMUM = 500;
/** Characters of a rule's name. */
export const RULE_NAME_MAXIMUM = 100;

/** The specification's static figures, shown only where `demo` is on and marked as a sample. */
export const SAMPLE_FIGURES = { blocked_attempts: '247', data_protected: '2.4GB' } as const;

export const directionSchema = z.enum(['inbound', 'outbound'], { error: 'Choose inbound or outbound.' });
export type Direction = z.infer<typeof directionSchema>;
export const actionSchema = z.enum(['allow', 'block'], { error: 'Choose allow or block.' });
export type Action = z.infer<typeof actionSchema>;
export const protocolSchema = z.enum(['tcp', 'udp', 'icmp', 'all'], { error: 'Choose tcp, udp, icmp or all.' });
export type Protocol = z.infer<typeof protocolSchema>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/u;

export const ruleNameSchema = z
  .string({ error: 'Give the rule a name.' })
  .trim()
  .min(1, 'Give the rule a name.')
  .refine((name) => [...name].length <= RULE_NAME_MAXIMUM, `A rule’s name has at most ${RULE_NAME_MAXIMUM} characters.`)
  .refine((name) => !CONTROL_CHARACTERS.test(name) && name.isWellFormed(), 'A rule’s name has no control characters.');

/** A field of the grammar: refused with the grammar's sentence, else stored as `fieldText` has it. */
function grammarField(read: (text: string) => Reading<unknown>) {
  return z
    .string({ error: 'Give text: * for every, or what this field takes.' })
    .default(EVERY)
    .transform((text, context) => {
      const result = read(text);
      if (!result.ok) context.addIssue({ code: 'custom', message: result.message });
      return fieldText(text);
    });
}

/** What one part of a rule forbids in another. */
function conflictOf(rule: {
  protocol: Protocol;
  source_ip: string;
  destination_ip: string;
  port: string;
}): { field: 'destination_ip' | 'port'; message: string } | undefined {
  if (rule.protocol === 'icmp' && fieldText(rule.port) !== EVERY) {
    return { field: 'port', message: 'ICMP has no ports: leave the port as *.' };
  }
  const source = readAddresses(rule.source_ip);
  const destination = readAddresses(rule.destination_ip);
  if (!source.ok || !destination.ok) return undefined;
  const message = familyConflict(source.value.family, destination.value.family);
  return message === undefined ? undefined : { field: 'destination_ip', message };
}

const ruleTermsSchema = z.object({
  direction: directionSchema.default('inbound'),
  action: actionSchema.default('allow'),
  protocol: protocolSchema.default('tcp'),
  source_ip: grammarField(readAddresses),
  destination_ip: grammarField(readAddresses),
  port: grammarField(readPorts),
});

/** A rule as it is asked for: a name is enough, the rest has the specification's defaults. The grammar of its addresses and its port is that of `firewall-grammar.ts`. */
export const newRuleSchema = z.object({ rule_name: ruleNameSchema, ...ruleTermsSchema.shape }).superRefine((rule, context) => {
  const conflict = conflictOf(rule);
  if (conflict) context.addIssue({ code: 'custom', path: [conflict.field], message: conflict.message });
});
export type NewRule = z.infer<typeof newRuleSchema>;

/** What a rule is where nobody says otherwise, on the wire and in the Add Rule dialog. */
export const RULE_DEFAULTS: Omit<NewRule, 'rule_name'> = ruleTermsSchema.parse({});

export const ruleSchema = z.object({
  id: idSchema,
  rule_name: z.string(),
  direction: directionSchema,
  action: actionSchema,
  protocol: protocolSchema,
  source_ip: z.string(),
  destination_ip: z.string(),
  /** The port that is connected to; never the one that a connection comes from. */
  port: z.string(),
  enabled: z.boolean(),
  created_at: timeSchema,
});
export type Rule = z.infer<typeof ruleSchema>;

export const listRules = endpoint({
  method: 'GET',
  path: '/firewall/rules',
  summary: 'The firewall rules of the signed-in person, newest first.',
  access: 'customer',
  query: pageQuerySchema,
  status: 200,
  reply: z.array(ruleSchema),
  problems: [],
});

export const addRule = endpoint({
  method: 'POST',
  path: '/firewall/rules',
  summary: 'Add a firewall rule. It is enabled at once.',
  access: 'customer',
  body: newRuleSchema,
  changes: 'rules',
  status: 201,
  reply: ruleSchema,
  problems: ['rule_limit'],
});

export const setRuleEnabled = endpoint({
  method: 'PUT',
  path: '/firewall/rules/{id}',
  summary: 'Enable or disable a firewall rule.',
  access: 'customer',
  params: idParamsSchema,
  body: z.object({ enabled: z.boolean({ error: 'Give true or false.' }) }),
  changes: 'rules',
  status: 200,
  reply: ruleSchema,
  problems: [],
});

export const deleteRule = endpoint({
  method: 'DELETE',
  path: '/firewall/rules/{id}',
  summary: 'Delete a firewall rule.',
  access: 'customer',
  params: idParamsSchema,
  changes: 'rules',
  status: 204,
  problems: [],
});
