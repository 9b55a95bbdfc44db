import {
  type Assignment,
  assignmentSchema,
  DURATION_DEFAULT,
  MAX_DEVICES_DEFAULT,
  MAX_PROFILES_DEFAULT,
  MAX_WEB_DEVICES_DEFAULT,
  type NewTemplate,
  newTemplateSchema,
  type Template,
  type UserPlanRequest,
} from '@palisade/contract/subscription';
import { z } from 'zod';
import { CallError } from '#api/call.ts';
import { readPrice } from './typed-price.ts';

/** Fields of a plan in both forms. Values of select fields are strings. */
const planDraftSchema = z.object({
  duration_months: z.string(),
  max_devices: z.string(),
  /** These have a default because stored drafts of older versions lack them. */
  max_web_devices: z.string().default(String(MAX_WEB_DEVICES_DEFAULT)),
  max_profiles: z.string().default(String(MAX_PROFILES_DEFAULT)),
  is_premium: z.boolean(),
  features: z.array(z.string()),
  /** A feature that was typed but not added to the list yet. Has a default because stored drafts of older versions lack it. */
  feature: z.string().default(''),
});
export type PlanDraft = z.infer<typeof planDraftSchema>;

export const assignDraftSchema = planDraftSchema.extend({
  user_email: z.string(),
  plan_name: z.string(),
  price: z.string(),
  request_id: z.string().optional(),
  /** Whether the plan starts today for a person who already has it, instead of extending its end. */
  starts_over: z.boolean().default(false),
});
export type AssignDraft = z.infer<typeof assignDraftSchema>;

export const templateDraftSchema = planDraftSchema.extend({
  template_name: z.string(),
  base_price: z.string(),
  /** The edited template; undefined for a new one. */
  template_id: z.string().optional(),
});
export type TemplateDraft = z.infer<typeof templateDraftSchema>;

const EMPTY_PLAN: PlanDraft = {
  duration_months: String(DURATION_DEFAULT),
  max_devices: String(MAX_DEVICES_DEFAULT),
  max_web_devices: String(MAX_WEB_DEVICES_DEFAULT),
  max_profiles: String(MAX_PROFILES_DEFAULT),
  is_premium: false,
  features: [],
  feature: '',
};

export const EMPTY_ASSIGNMENT: AssignDraft = {
  ...EMPTY_PLAN,
  user_email: '',
  plan_name: '',
  price: '',
  request_id: undefined,
  starts_over: false,
};
export const EMPTY_TEMPLATE: TemplateDraft = { ...EMPTY_PLAN, template_name: '', base_price: '', template_id: undefined };

/** Copies a template into the assign form and keeps the recipient. */
export function draftOfTemplate(template: Template, user_email: string): AssignDraft {
  return {
    user_email,
    plan_name: template.template_name,
    price: String(template.base_price),
    duration_months: String(template.duration_months),
    max_devices: String(template.max_devices),
    max_web_devices: String(template.max_web_devices),
    max_profiles: String(template.max_profiles),
    is_premium: template.is_premium,
    features: template.features,
    feature: '',
    request_id: undefined,
    starts_over: false,
  };
}

/** A template as a draft of its form. */
export function draftOfEdited(template: Template): TemplateDraft {
  return {
    template_id: template.id,
    template_name: template.template_name,
    base_price: String(template.base_price),
    duration_months: String(template.duration_months),
    max_devices: String(template.max_devices),
    max_web_devices: String(template.max_web_devices),
    max_profiles: String(template.max_profiles),
    is_premium: template.is_premium,
    features: template.features,
    feature: '',
  };
}

export function draftOfRequest(request: UserPlanRequest): AssignDraft {
  return { ...draftOfTemplate(request.template, request.user_email), request_id: request.id };
}

/** Sentences by field name. */
export type FieldMessages = Record<string, string>;

/** The parsed plan of a draft, or its errors. */
export type Parsed<Body> = { ok: true; body: Body } | { ok: false; sentence: string; fields: FieldMessages };

function fieldMessages(errors: readonly { field: string; message: string }[]): FieldMessages {
  // The field is the first part of the path. Reversed, so that the first message of a field wins.
  return Object.fromEntries(errors.toReversed().map(({ field, message }) => [field.split('.')[0] ?? field, message]));
}

function parse<Schema extends z.ZodType>(schema: Schema, values: unknown): Parsed<z.output<Schema>> {
  const { data, error } = schema.safeParse(values);
  if (!error) return { ok: true, body: data };
  const errors = error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
  return { ok: false, sentence: errors[0]?.message ?? '', fields: fieldMessages(errors) };
}

/** An empty field is NaN; `Number('')` would be 0, a valid price. */
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** The list together with the feature that was typed but not added, because the person expects it to be sent. */
export function featuresOf({ features, feature }: Pick<PlanDraft, 'features' | 'feature'>): string[] {
  const typed = feature.trim();
  return typed === '' || features.includes(typed) ? features : [...features, typed];
}

function planOf(draft: PlanDraft) {
  const { duration_months, max_devices, max_web_devices, max_profiles } = draft;
  return {
    ...{ duration_months: numberOf(duration_months), max_devices: numberOf(max_devices) },
    ...{ max_web_devices: numberOf(max_web_devices), max_profiles: numberOf(max_profiles), features: featuresOf(draft) },
  };
}

/** Reports an ambiguous price at its field instead of guessing. */
function withPrice<Body>(field: string, typed: string, parsed: (price: number) => Parsed<Body>): Parsed<Body> {
  const price = readPrice(typed);
  const read = parsed(price.kind === 'price' ? price.price : Number.NaN);
  if (price.kind !== 'unclear' || read.ok) return read;
  return { ...read, sentence: price.sentence, fields: { ...read.fields, [field]: price.sentence } };
}

export function parseAssignment(draft: AssignDraft): Parsed<Assignment> {
  return withPrice('price', draft.price, (price) =>
    parse(assignmentSchema, { ...draft, ...planOf(draft), price, starts_over: draft.starts_over || undefined }),
  );
}

export function parseTemplate(draft: TemplateDraft): Parsed<NewTemplate> {
  return withPrice('base_price', draft.base_price, (base_price) =>
    parse(newTemplateSchema, { ...draft, ...planOf(draft), base_price }),
  );
}

/** The server's sentence of a failed call, or the specification's fallback. */
export function refusalOf(error: unknown, fallback: string): { sentence: string; fields: FieldMessages } {
  const problem = error instanceof CallError ? error.problem : undefined;
  return { sentence: problem ? `Error: ${problem.detail}` : fallback, fields: fieldMessages(problem?.errors ?? []) };
}
