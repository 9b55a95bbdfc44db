import { TextInput } from '@mantine/core';
import {
  ASSIGN_DURATIONS,
  assignSubscription,
  CURRENCY,
  expiryOf,
  PLAN_NAME_LENGTH_MAXIMUM,
} from '@palisade/contract/subscription';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { call } from '#api/call.ts';
import { Button, Spinner } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { useMinute } from '#ui/moment.tsx';
import { type AssignDraft, EMPTY_ASSIGNMENT, type FieldMessages, parseAssignment, refusalOf } from './drafts.ts';
import type { Message } from './message-line.tsx';
import { PlanCard } from './plan-card.tsx';
import { PlanFields, PriceField } from './plan-fields.tsx';
import { describeDate } from './plan-words.ts';
import { SUBSCRIPTION_KEY } from './subscriptions.queries.ts';

interface AssignFormProps {
  draft: AssignDraft;
  onChange: (draft: AssignDraft) => void;
  onMessage: (message: Message | undefined) => void;
}

export function AssignForm({ draft, onChange, onMessage }: AssignFormProps) {
  const queries = useQueryClient();
  const [messages, setMessages] = useState<FieldMessages>({});
  const [isBusy, setIsBusy] = useState(false);
  // State shows only after the next render; two presses at once must make one assignment.
  const isSending = useRef(false);

  function change(part: Partial<AssignDraft>) {
    onChange({ ...draft, ...part });
    setMessages((before) => Object.fromEntries(Object.entries(before).filter(([field]) => !(field in part))));
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (isSending.current) return;
    onMessage(undefined);
    const parsed = parseAssignment(draft);
    if (!parsed.ok) {
      setMessages(parsed.fields);
      onMessage({ tone: 'bad', text: `Error: ${parsed.sentence}` });
      return;
    }
    isSending.current = true;
    setIsBusy(true);
    setMessages({});
    try {
      const { subscription } = await call(assignSubscription, { body: parsed.body });
      onChange(EMPTY_ASSIGNMENT);
      onMessage({ tone: 'good', text: `Subscription assigned successfully to ${subscription.user_email}` });
      void queries.invalidateQueries({ queryKey: SUBSCRIPTION_KEY });
    } catch (error) {
      console.error(error);
      const { sentence, fields } = refusalOf(error, 'Failed to assign subscription');
      setMessages(fields);
      onMessage({ tone: 'bad', text: sentence });
    } finally {
      isSending.current = false;
      setIsBusy(false);
    }
  }

  return (
    <div className="assign">
      <Card title="Assign a subscription">
        <form className="plan-form" onSubmit={submit}>
          <TextInput
            label="User Email"
            name="user_email"
            type="email"
            autoComplete="off"
            placeholder="user@example.com"
            required
            withAsterisk={false}
            size="md"
            value={draft.user_email}
            error={messages['user_email']}
            onChange={(event) => change({ user_email: event.currentTarget.value })}
          />
          <div className="plan-form__pair">
            <TextInput
              label="Plan Name"
              name="plan_name"
              autoComplete="off"
              placeholder="Family Shield"
              required
              withAsterisk={false}
              size="md"
              maxLength={PLAN_NAME_LENGTH_MAXIMUM}
              value={draft.plan_name}
              error={messages['plan_name']}
              onChange={(event) => change({ plan_name: event.currentTarget.value })}
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
          <div className="plan-form__submit">
            {/* Disabled in word only: a button that is disabled while it has the focus loses it. */}
            <Button type="submit" size="l" aria-disabled={isBusy}>
              {isBusy ? 'Assigning...' : 'Assign Subscription'}
            </Button>
            {isBusy && <Spinner />}
          </div>
        </form>
      </Card>
      <Preview draft={draft} />
    </div>
  );
}

/** What the person will see of it, and what it does to what they have. */
function Preview({ draft }: { draft: AssignDraft }) {
  const now = useMinute();
  const months = Number(draft.duration_months);
  const price = Number(draft.price);
  return (
    <Card title="What they get">
      <PlanCard
        plan={{
          template_name: draft.plan_name.trim() || 'The plan’s name',
          base_price: Number.isFinite(price) ? price : 0,
          currency: CURRENCY,
          duration_months: months,
          max_devices: Number(draft.max_devices),
          is_premium: draft.is_premium,
          features: draft.features,
        }}
      />
      <p className="sub assign__effect">
        It starts at once, ends on {describeDate(expiryOf(new Date(now).toISOString(), months))}, and replaces the plan they have.
        {draft.request_id !== undefined && ' It answers their request.'}
      </p>
    </Card>
  );
}
