import { shownEmail } from '@palisade/contract/shown-email';
import { ASSIGN_DURATIONS, assignSubscription, CURRENCY, expiryOf } from '@palisade/contract/subscription';
import { call } from '#api/call.ts';
import { Card } from '#ui/card.tsx';
import { Form } from '#ui/form.tsx';
import { describePlanEnd, useMinute } from '#ui/moment.tsx';
import { type AssignDraft, EMPTY_ASSIGNMENT, featuresOf, parseAssignment } from './drafts.ts';
import type { Message } from './message-line.tsx';
import { PersonField } from './person-field.tsx';
import { PlanCard } from './plan-card.tsx';
import { PlanFields, PlanNameField, PriceField } from './plan-fields.tsx';
import { PlanSubmit } from './plan-submit.tsx';
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

  return (
    <div className="assign">
      <Card title="Assign a subscription">
        <Form noValidate className="plan-form" error={refused} busy={isBusy} onSubmit={submit}>
          <PersonField
            value={draft.user_email}
            error={messages['user_email']}
            onChange={(user_email) => change({ user_email })}
          />
          <div className="plan-form__pair">
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
          </div>
          <PlanFields draft={draft} durations={ASSIGN_DURATIONS} messages={messages} onChange={change} />
          <PlanSubmit isBusy={isBusy} label="Assign Subscription" busyLabel="Assigning..." />
        </Form>
      </Card>
      <Preview draft={draft} />
    </div>
  );
}

/** The person's view of the plan, and its effect on their present one. */
function Preview({ draft }: { draft: AssignDraft }) {
  const now = useMinute();
  const months = Number(draft.duration_months);
  const price = readPrice(draft.price);
  return (
    <Card title="What’s included">
      <PlanCard
        plan={{
          template_name: draft.plan_name.trim() || 'New plan',
          base_price: price.kind === 'price' ? price.price : 0,
          currency: CURRENCY,
          duration_months: months,
          max_devices: Number(draft.max_devices),
          is_premium: draft.is_premium,
          features: featuresOf(draft),
        }}
      />
      <p className="sub assign__effect">
        {`It starts at once, ends on ${describePlanEnd(expiryOf(new Date(now).toISOString(), months))}, and replaces their current plan.`}
        {draft.request_id !== undefined && ' It grants their request.'}
      </p>
    </Card>
  );
}
