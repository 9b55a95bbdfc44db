import {
  type Assignment,
  assignmentSchema,
  DURATION_DEFAULT,
  MAX_DEVICES_DEFAULT,
  type NewTemplate,
  newTemplateSchema,
  type Template,
  type UserPlanRequest,
} from '@palisade/contract/subscription';
import { z } from 'zod';
import { CallError } from '#api/call.ts';
import { readPrice } from './typed-price.ts';

/** Choices of a plan in either form; the lists' values as text, as a select has them. */
const planDraftSchema = z.object({
  duration_months: z.string(),
  max_devices: z.string(),
  is_premium: z.boolean(),
  features: z.array(z.string()),
  /** Typed and not added to the list yet. A browser may keep a draft from before there was such a thing. */
  feature: z.string().default(''),
});
export type PlanDraft = z.infer<typeof planDraftSchema>;

export const assignDraftSchema = planDraftSchema.extend({
  user_email: z.string(),
  plan_name: z.string(),
  price: z.string(),
  request_id: z.string().optional(),
  /** Whether a person who has this plan gets it from today on, in place of a later end. */
  starts_over: z.boolean().default(false),
});
export type AssignDraft = z.infer<typeof assignDraftSchema>;

export const templateDraftSchema = planDraftSchema.extend({
  template_name: z.string(),
  base_price: z.string(),
  /** The template that is edited; a new one without it. */
  template_id: z.string().optional(),
});
export type TemplateDraft = z.infer<typeof templateDraftSchema>;

const EMPTY_PLAN: PlanDraft = {
  duration_months: String(DURATION_DEFAULT),
  max_devices: String(MAX_DEVICES_DEFAULT),
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

/** A template copied into the assign form; whom it is for stays as it is. */
export function draftOfTemplate(template: Template, user_email: string): AssignDraft {
  return {
    user_email,
    plan_name: template.template_name,
    price: String(template.base_price),
    duration_months: String(template.duration_months),
    max_devices: String(template.max_devices),
    is_premium: template.is_premium,
    features: template.features,
    feature: '',
    request_id: undefined,
    starts_over: false,
  };
}

/** A template as the form edits it. */
export function draftOfEdited(template: Template): TemplateDraft {
  return {
    template_id: template.id,
    template_name: template.template_name,
    base_price: String(template.base_price),
    duration_months: String(template.duration_months),
    max_devices: String(template.max_devices),
    is_premium: template.is_premium,
    features: template.features,
    feature: '',
  };
}

export function draftOfRequest(request: UserPlanRequest): AssignDraft {
  return { ...draftOfTemplate(request.template, request.user_email), request_id: request.id };
}

/** A field's name and the sentence that stands beneath it. */
export type FieldMessages = Record<string, string>;

/** The plan of a draft, or its faults. */
export type Parsed<Body> = { ok: true; body: Body } | { ok: false; sentence: string; fields: FieldMessages };

function fieldMessages(errors: readonly { field: string; message: string }[]): FieldMessages {
  // Of a list the first part of the path is the field; of several sentences the first is the one to read.
  return Object.fromEntries(errors.toReversed().map(({ field, message }) => [field.split('.')[0] ?? field, message]));
}

function parse<Schema extends z.ZodType>(schema: Schema, values: unknown): Parsed<z.output<Schema>> {
  const { data, error } = schema.safeParse(values);
  if (!error) return { ok: true, body: data };
  const errors = error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
  return { ok: false, sentence: errors[0]?.message ?? '', fields: fieldMessages(errors) };
}

/** An empty field is no number; `Number('')` would be 0, a price. */
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** With the one that was typed and not added: whoever sends the form means it too. */
export function featuresOf({ features, feature }: Pick<PlanDraft, 'features' | 'feature'>): string[] {
  const typed = feature.trim();
  return typed === '' || features.includes(typed) ? features : [...features, typed];
}

function planOf(draft: PlanDraft) {
  const { duration_months, max_devices } = draft;
  return { duration_months: numberOf(duration_months), max_devices: numberOf(max_devices), features: featuresOf(draft) };
}

/** A price that can be read in two ways is asked for, at its field, and not guessed. */
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

/** A failed call as the screen says it: the server's own sentence, or the fallback of the specification. */
export function refusalOf(error: unknown, fallback: string): { sentence: string; fields: FieldMessages } {
  const problem = error instanceof CallError ? error.problem : undefined;
  return { sentence: problem ? `Error: ${problem.detail}` : fallback, fields: fieldMessages(problem?.errors ?? []) };
}
