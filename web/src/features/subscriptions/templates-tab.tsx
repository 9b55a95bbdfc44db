import { createTemplate, TEMPLATE_DURATIONS, type Template } from '@palisade/contract/subscription';
import { IconTemplate } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Form } from '#ui/form.tsx';
import { EmptyState, LoadingRows } from '#ui/states.tsx';
import { EMPTY_TEMPLATE, parseTemplate, type TemplateDraft } from './drafts.ts';
import type { Message } from './message-line.tsx';
import { PlanCard } from './plan-card.tsx';
import { PlanFields, PlanNameField, PriceField } from './plan-fields.tsx';
import { PlanSubmit } from './plan-submit.tsx';
import { templatesQuery } from './subscriptions.queries.ts';
import { usePlanForm } from './use-plan-form.ts';

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
            sentence="A template is a plan that you offer. Everybody can ask for it, and you assign it with two presses."
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
  const { messages, refused, isBusy, change, submit } = usePlanForm({
    draft,
    onChange,
    onMessage,
    parse: parseTemplate,
    of: createTemplate,
    send: async (body) => {
      const { template } = await call(createTemplate, { body });
      return `Template "${template.template_name}" created successfully`;
    },
    failed: 'Failed to create template',
    empty: EMPTY_TEMPLATE,
  });

  return (
    <Card title="Create a template">
      <Form noValidate className="plan-form" error={refused} busy={isBusy} onSubmit={submit}>
        <PlanNameField
          label="Template Name"
          name="template_name"
          value={draft.template_name}
          error={messages['template_name']}
          onChange={(template_name) => change({ template_name })}
        />
        <PriceField
          label="Base Price"
          name="base_price"
          value={draft.base_price}
          error={messages['base_price']}
          onChange={(base_price) => change({ base_price })}
        />
        <PlanFields draft={draft} durations={TEMPLATE_DURATIONS} messages={messages} onChange={change} />
        <PlanSubmit isBusy={isBusy} label="Create Template" busyLabel="Creating..." />
      </Form>
    </Card>
  );
}
