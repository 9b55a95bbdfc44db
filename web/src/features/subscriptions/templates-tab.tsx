import { TextInput } from '@mantine/core';
import { createTemplate, PLAN_NAME_LENGTH_MAXIMUM, TEMPLATE_DURATIONS, type Template } from '@palisade/contract/subscription';
import { IconTemplate } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { call } from '#api/call.ts';
import { Button, Spinner } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { EmptyState, LoadingRows } from '#ui/states.tsx';
import { EMPTY_TEMPLATE, type FieldMessages, parseTemplate, refusalOf, type TemplateDraft } from './drafts.ts';
import type { Message } from './message-line.tsx';
import { PlanCard } from './plan-card.tsx';
import { PlanFields, PriceField } from './plan-fields.tsx';
import { SUBSCRIPTION_KEY, templatesQuery } from './subscriptions.queries.ts';

interface TemplatesTabProps {
  draft: TemplateDraft;
  onChange: (draft: TemplateDraft) => void;
  onMessage: (message: Message | undefined) => void;
  onUse: (template: Template) => void;
}

export function TemplatesTab({ draft, onChange, onMessage, onUse }: TemplatesTabProps) {
  const { data: templates, error } = useQuery(templatesQuery);
  return (
    <div className="templates">
      <TemplateForm draft={draft} onChange={onChange} onMessage={onMessage} />
      <Card title="Plans on offer">
        {!templates && !error && <LoadingRows label="Loading the templates" />}
        {!templates && error && <p className="sub">The templates could not be read.</p>}
        {templates?.length === 0 && (
          <EmptyState
            icon={<IconTemplate size={28} stroke={1.7} />}
            title="No templates yet"
            sentence="A template is a plan that is on offer: everybody can ask for it, and you assign it with two presses."
          />
        )}
        {templates && templates.length > 0 && (
          <div className="plan-grid">
            {templates.map((template) => (
              <PlanCard key={template.id} plan={template}>
                <Button variant="quiet" onClick={() => onUse(template)}>
                  Use Template <span className="visually-hidden">{template.template_name}</span>
                </Button>
              </PlanCard>
            ))}
          </div>
        )}
      </Card>
    </div>
  );
}

function TemplateForm({ draft, onChange, onMessage }: Omit<TemplatesTabProps, 'onUse'>) {
  const queries = useQueryClient();
  const [messages, setMessages] = useState<FieldMessages>({});
  const [isBusy, setIsBusy] = useState(false);
  // State shows only after the next render; two presses at once must make one template.
  const isSending = useRef(false);

  function change(part: Partial<TemplateDraft>) {
    onChange({ ...draft, ...part });
    setMessages((before) => Object.fromEntries(Object.entries(before).filter(([field]) => !(field in part))));
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (isSending.current) return;
    onMessage(undefined);
    const parsed = parseTemplate(draft);
    if (!parsed.ok) {
      setMessages(parsed.fields);
      onMessage({ tone: 'bad', text: `Error: ${parsed.sentence}` });
      return;
    }
    isSending.current = true;
    setIsBusy(true);
    setMessages({});
    try {
      const { template } = await call(createTemplate, { body: parsed.body });
      onChange(EMPTY_TEMPLATE);
      onMessage({ tone: 'good', text: `Template "${template.template_name}" created successfully` });
      void queries.invalidateQueries({ queryKey: SUBSCRIPTION_KEY });
    } catch (error) {
      console.error(error);
      const { sentence, fields } = refusalOf(error, 'Failed to create template');
      setMessages(fields);
      onMessage({ tone: 'bad', text: sentence });
    } finally {
      isSending.current = false;
      setIsBusy(false);
    }
  }

  return (
    <Card title="Create a template">
      <form className="plan-form" onSubmit={submit}>
        <TextInput
          label="Template Name"
          name="template_name"
          autoComplete="off"
          placeholder="Family Shield"
          required
          withAsterisk={false}
          size="md"
          maxLength={PLAN_NAME_LENGTH_MAXIMUM}
          value={draft.template_name}
          error={messages['template_name']}
          onChange={(event) => change({ template_name: event.currentTarget.value })}
        />
        <PriceField
          label="Base Price"
          name="base_price"
          value={draft.base_price}
          error={messages['base_price']}
          onChange={(base_price) => change({ base_price })}
        />
        <PlanFields draft={draft} durations={TEMPLATE_DURATIONS} messages={messages} onChange={change} />
        <div className="plan-form__submit">
          {/* Disabled in word only: a button that is disabled while it has the focus loses it. */}
          <Button type="submit" size="l" aria-disabled={isBusy}>
            {isBusy ? 'Creating...' : 'Create Template'}
          </Button>
          {isBusy && <Spinner />}
        </div>
      </form>
    </Card>
  );
}
