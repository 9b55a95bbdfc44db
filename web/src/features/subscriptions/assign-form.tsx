import { canonicalEmail } from '@palisade/contract/email';
import { shownEmail } from '@palisade/contract/shown-email';
import {
  ASSIGN_DURATIONS,
  assignedEnd,
  assignSubscription,
  CURRENCY,
  planKeyOf,
  type Subscription,
} from '@palisade/contract/subscription';
import { useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { Card } from '#ui/card.tsx';
import { Check } from '#ui/check.tsx';
import { Choice } from '#ui/choice.tsx';
import { Form } from '#ui/form.tsx';
import { Grid } from '#ui/layout.tsx';
import { useMinute } from '#ui/moment.tsx';
import { type AssignDraft, draftOfTemplate, EMPTY_ASSIGNMENT, featuresOf, parseAssignment } from './drafts.ts';
import type { Message } from './message-line.tsx';
import { PersonField } from './person-field.tsx';
import { PlanCard } from './plan-card.tsx';
import { PlanFields, PlanNameField, PriceField } from './plan-fields.tsx';
import { PlanSubmit } from './plan-submit.tsx';
import { describeExpiry } from './plan-words.ts';
import { subscriptionsQuery, templatesQuery } from './subscriptions.queries.ts';
import { readPrice } from './typed-price.ts';
import { usePlanForm } from './use-plan-form.ts';

interface AssignFormProps {
  draft: AssignDraft;
  onChange: (draft: AssignDraft) => void;
  onMessage: (message: Message | undefined) => void;
}

export function AssignForm({ draft, onChange, onMessage }: AssignFormProps) {
  const { messages, refused, isBusy, change, submit } = usePlanForm({
    draft,
    onChange,
    onMessage,
    parse: parseAssignment,
    of: assignSubscription,
    send: async (body) => {
      const { subscription } = await call(assignSubscription, { body });
      return `Subscription assigned successfully to ${shownEmail(subscription.user_email)}`;
    },
    failed: 'Failed to assign subscription',
    empty: EMPTY_ASSIGNMENT,
  });

  const email = canonicalEmail(draft.user_email);
  const { data: subscriptions = [] } = useQuery(subscriptionsQuery);
  const { data: templates = [] } = useQuery(templatesQuery);
  const present = presentPlanOf(subscriptions, email);
  const isFilled = draft.plan_name.trim() !== '' && readPrice(draft.price).kind !== 'empty';
  return (
    <Grid columns={isFilled ? 'side' : undefined} tablet="stack" gap="4" align="start">
      <Card title="Assign a subscription">
        <Form noValidate gap="4" error={refused} busy={isBusy} onSubmit={submit}>
          {templates.length > 0 && (
            <Choice
              label="Template"
              size="md"
              data={[
                { value: '', label: 'None: fill in the plan below' },
                ...templates.map(({ id, template_name }) => ({ value: id, label: template_name })),
              ]}
              value={templates.find(({ template_name }) => template_name === draft.plan_name)?.id ?? ''}
              onChange={(event) => {
                const template = templates.find(({ id }) => id === event.currentTarget.value);
                onChange(
                  template ? draftOfTemplate(template, draft.user_email) : { ...EMPTY_ASSIGNMENT, user_email: draft.user_email },
                );
              }}
            />
          )}
          <PersonField
            value={draft.user_email}
            error={messages['user_email']}
            onChange={(user_email) => change({ user_email })}
          />
          <Grid columns="fit-m" gap="4" align="start">
            <PlanNameField
              label="Plan Name"
              name="plan_name"
              value={draft.plan_name}
              error={messages['plan_name']}
              onChange={(plan_name) => change({ plan_name })}
            />
            <PriceField
              label="Custom Price"
              name="price"
              value={draft.price}
              error={messages['price']}
              onChange={(price) => change({ price })}
            />
          </Grid>
          <PlanFields draft={draft} durations={ASSIGN_DURATIONS} messages={messages} onChange={change} />
          {present !== undefined && isSamePlan(draft, present) && (
            <Check
              label="Start again from today"
              checked={draft.starts_over}
              onChange={(event) => change({ starts_over: event.currentTarget.checked })}
            />
          )}
          <PlanSubmit isBusy={isBusy} label="Assign Subscription" busyLabel="Assigning..." />
        </Form>
      </Card>
      {isFilled && <Preview draft={draft} present={present} />}
    </Grid>
  );
}

/** The active plan of an email. */
export function presentPlanOf(subscriptions: readonly Subscription[], email: string | undefined): Subscription | undefined {
  return subscriptions.find(({ user_email, status }) => user_email === email && status === 'active');
}

const isSamePlan = (draft: AssignDraft, present: Subscription) => planKeyOf(draft.plan_name) === planKeyOf(present.plan_name);

/** The end of the plan before and after the change, in words. `now` is in ms. */
export function effectOf(draft: AssignDraft, present: Subscription | undefined, now: number): string {
  const after = describeExpiry(assignedEnd(present, { ...draft, duration_months: Number(draft.duration_months) }, now));
  if (present === undefined) return `It starts at once. End: ${after}.`;
  const before = describeExpiry(present.expires_at);
  if (isSamePlan(draft, present)) return `They have this plan. Its end: ${before} before, ${after} after.`;
  const end = before === after ? `${after}, as before` : `${before} before, ${after} after`;
  return `It starts at once and replaces “${present.plan_name}”. End: ${end}.`;
}

/** The plan as the person will see it, and its effect on their present plan. */
function Preview({ draft, present }: { draft: AssignDraft; present: Subscription | undefined }) {
  const now = useMinute();
  const price = readPrice(draft.price);
  return (
    <Card title="What’s included">
      <PlanCard
        plan={{
          template_name: draft.plan_name.trim(),
          base_price: price.kind === 'price' ? price.price : 0,
          currency: CURRENCY,
          duration_months: Number(draft.duration_months),
          max_devices: Number(draft.max_devices),
          max_web_devices: Number(draft.max_web_devices),
          max_profiles: Number(draft.max_profiles),
          is_premium: draft.is_premium,
          features: featuresOf(draft),
        }}
      />
      <p className="sub assign__effect above-3">
        {effectOf(draft, present, now)}
        {draft.request_id !== undefined && ' Approves the request.'}
      </p>
    </Card>
  );
}
