import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, isOneLine, pageQuerySchema, timeSchema } from './fields.ts';
import { EVERY, familyConflict, fieldText, type Reading, readAddresses, readPorts } from './firewall-grammar.ts';
import { specified } from './reader.ts';

/** Maximum number of rules of one person, and of one device. */
export const RULES_MAXIMUM = 1_000;
/** Number of revisions of a person's rules that are kept, for viewing and restoring. */
export const REVISIONS_KEPT = 100;
/** Maximum number of devices that one rule can name. */
export const RULE_DEVICES_MAXIMUM = 50;
/** Maximum length of a rule's name, in characters. */
export const RULE_NAME_MAXIMUM = 100;

/** Static figures of the specification, shown only if `demo` is on, and marked as samples. */
export const SAMPLE_FIGURES = { blocked_attempts: '247', data_protected: '2.4GB' } as const;

export const directionSchema = z.enum(['inbound', 'outbound'], { error: 'Choose inbound or outbound.' });
export type Direction = z.infer<typeof directionSchema>;
export const actionSchema = z.enum(['allow', 'block'], { error: 'Choose allow or block.' });
export type Action = z.infer<typeof actionSchema>;
export const protocolSchema = z.enum(['tcp', 'udp', 'icmp', 'all'], { error: 'Choose tcp, udp, icmp, or all.' });
export type Protocol = z.infer<typeof protocolSchema>;

const LONGEST_NAME = `Use at most ${RULE_NAME_MAXIMUM} characters for the rule name.`;
/** Maximum length before trimming; the grammar has its own limits. */
const FIELD_LENGTH_MAXIMUM = 8_192;

export const ruleNameSchema = z
  .string({ error: 'Enter a rule name.' })
  .trim()
  .min(1, 'Enter a rule name.')
  .max(2 * RULE_NAME_MAXIMUM, { error: LONGEST_NAME, abort: true })
  .refine((name) => [...name].length <= RULE_NAME_MAXIMUM, LONGEST_NAME)
  .refine(isOneLine, 'Remove the control characters from the rule name.');

/** Duration of a temporary rule, in ms. */
export const LASTS = { hour: 3_600_000, day: 86_400_000 } as const;
const lastsSchema = z.enum(['hour', 'day'], { error: 'Choose an hour or a day.' });
export type Lasts = z.infer<typeof lastsSchema>;

/** A field in the grammar: refused with the grammar's sentence, or stored in the form of `fieldText`. */
function grammarField(read: (text: string) => Reading<unknown>) {
  return z
    .string({ error: 'Enter text, or * for every value.' })
    .max(FIELD_LENGTH_MAXIMUM, { error: `Use at most ${FIELD_LENGTH_MAXIMUM} characters.`, abort: true })
    .default(EVERY)
    .transform((text, context) => {
      const result = read(text);
      if (!result.ok) context.addIssue({ code: 'custom', message: result.message });
      return fieldText(text);
    });
}

/** Fields of a rule that exclude each other. */
function conflictOf(rule: {
  protocol: Protocol;
  source_ip: string;
  destination_ip: string;
  port: string;
}): { field: 'destination_ip' | 'port'; message: string } | undefined {
  if (rule.protocol === 'icmp' && fieldText(rule.port) !== EVERY) {
    return { field: 'port', message: 'ICMP has no ports. Leave the port as *.' };
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

const deviceIdsSchema = z
  .array(idSchema)
  .max(RULE_DEVICES_MAXIMUM, `Choose at most ${RULE_DEVICES_MAXIMUM} devices for a rule.`)
  .transform((ids) => [...new Set(ids)].sort());

const newRuleFieldsSchema = z.object({
  rule_name: ruleNameSchema,
  ...ruleTermsSchema.shape,
  /** Duration of a temporary rule; if absent, it stays until it is switched off. */
  lasts: lastsSchema.nullable().optional(),
  /** Devices that the rule applies to; all if empty or absent. */
  device_ids: deviceIdsSchema.optional(),
});

function refineRule(rule: z.infer<typeof newRuleFieldsSchema>, context: z.RefinementCtx): void {
  const conflict = conflictOf(rule);
  if (conflict) context.addIssue({ code: 'custom', path: [conflict.field], message: conflict.message });
}

/** A rule to create: only the name is required, and the other fields have the specification's defaults. Addresses and port follow `firewall-grammar.ts`. */
export const newRuleSchema = newRuleFieldsSchema.superRefine(refineRule);
export type NewRule = z.infer<typeof newRuleSchema>;

/** Defaults of a rule in the API and in the Add Rule dialog. */
export const RULE_DEFAULTS: z.infer<typeof ruleTermsSchema> = ruleTermsSchema.parse({});

export const ruleSchema = specified(
  ['id', 'rule_name', 'direction', 'action', 'protocol', 'source_ip', 'destination_ip', 'port', 'enabled', 'created_at'],
  z.object({
    id: idSchema,
    rule_name: z.string(),
    direction: directionSchema,
    action: actionSchema,
    protocol: protocolSchema,
    source_ip: z.string(),
    destination_ip: z.string(),
    /** The destination port, never the source port. */
    port: z.string(),
    enabled: z.boolean(),
    created_at: timeSchema,
    /** Time when a temporary rule switches itself off, or did; null for a permanent one. */
    expires_at: timeSchema.nullable(),
    /** Devices that the rule applies to; all if empty. */
    device_ids: z.array(idSchema),
  }),
);
export type Rule = z.infer<typeof ruleSchema>;

export const listRules = endpoint({
  method: 'GET',
  path: '/firewall/rules',
  summary: 'The firewall rules of the signed-in person, newest first; the first page says how many there are (`X-Total-Count`).',
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(ruleSchema),
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
  body: z.object({ enabled: z.boolean({ error: 'Choose true or false.' }) }),
  changes: 'rules',
  reply: ruleSchema,
  reply_unspecified: true,
});

export const deleteRule = endpoint({
  method: 'DELETE',
  path: '/firewall/rules/{id}',
  summary: 'Delete a firewall rule.',
  access: 'customer',
  changes: 'rules',
});

export const editRule = endpoint({
  method: 'PATCH',
  path: '/firewall/rules/{id}',
  summary: 'Change what a firewall rule says. It stays enabled, or disabled, as it is.',
  access: 'customer',
  body: newRuleSchema,
  changes: 'rules',
  reply: ruleSchema,
});

/** Changes that can be made to several rules at once. */
export const RULE_CHANGES = ['enable', 'disable', 'delete'] as const;
export type RuleChange = (typeof RULE_CHANGES)[number];

export const changeRules = endpoint({
  method: 'POST',
  path: '/firewall/rules/change',
  summary:
    'Enable, disable or delete several firewall rules as one change, which can be undone as one. Rules that are gone are left out.',
  access: 'customer',
  body: z.object({
    rule_ids: z.array(idSchema).min(1, 'Choose at least one rule.').max(RULES_MAXIMUM, `Choose at most ${RULES_MAXIMUM} rules.`),
    change: z.enum(RULE_CHANGES, { error: 'Choose enable, disable, or delete.' }),
  }),
  changes: 'rules',
  expensive: true,
  /** Number of rules that were changed. */
  reply: z.object({ changed: z.int() }),
});

/** One rule of a file. */
const fileRuleSchema = newRuleFieldsSchema
  .omit({ lasts: true, device_ids: true })
  .extend({ enabled: z.boolean({ error: 'Choose true or false.' }).default(true) })
  .superRefine(refineRule);
export type FileRule = z.infer<typeof fileRuleSchema>;

/** The file format for exporting and importing rules. */
export const ruleFileSchema = z.object({
  palisade_rules: z.literal(1, { error: 'This isn’t a Palisade rules file. Choose a file exported from Palisade.' }),
  rules: z
    .array(fileRuleSchema)
    .min(1, 'This file has no rules.')
    .max(RULES_MAXIMUM, `A file can have at most ${RULES_MAXIMUM} rules.`),
});
export type RuleFile = z.infer<typeof ruleFileSchema>;

export const importRules = endpoint({
  method: 'POST',
  path: '/firewall/import',
  summary:
    'Add several rules at once, or put them in the place of all that are there: all of them or, where one is refused, none.',
  access: 'customer',
  body: z.object({ rules: ruleFileSchema.shape.rules, replace: z.boolean({ error: 'Choose true or false.' }).default(false) }),
  changes: 'rules',
  expensive: true,
  reply: z.object({ added: z.int(), removed: z.int() }),
  problems: ['rule_limit'],
});

/** The kind of change of a revision. */
export const revisionKindSchema = z.enum(['added', 'edited', 'enabled', 'disabled', 'deleted', 'imported', 'expired', 'undone']);
export type RevisionKind = z.infer<typeof revisionKindSchema>;

/** One change of a person's rules. `rev` increases by one each time. `rule_name` is set if the change concerns one rule. */
export const revisionSchema = z.object({
  id: idSchema,
  rev: z.int(),
  kind: revisionKindSchema,
  created_at: timeSchema,
  rule_name: z.string().nullable(),
  added: z.int(),
  changed: z.int(),
  removed: z.int(),
});
export type Revision = z.infer<typeof revisionSchema>;

export const listRevisions = endpoint({
  method: 'GET',
  path: '/firewall/revisions',
  summary: `The latest changes of the signed-in person’s rules, newest first; ${REVISIONS_KEPT} are kept.`,
  access: 'customer',
  query: pageQuerySchema,
  reply: z.array(revisionSchema),
});

export const undoRevision = endpoint({
  method: 'POST',
  path: '/firewall/revisions/{id}/undo',
  summary: 'Take back a change of the rules, and every later one. That is a new revision, which can be taken back itself.',
  access: 'customer',
  changes: 'rules',
  expensive: true,
  reply: revisionSchema,
  problems: ['conflict'],
});
