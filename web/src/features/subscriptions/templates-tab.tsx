import { createTemplate, deleteTemplate, TEMPLATE_DURATIONS, type Template } from '@palisade/contract/subscription';
import { IconTemplate } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
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
  const remove = useChange({
    of: deleteTemplate,
    mutationFn: ({ id }: Template) => call(deleteTemplate, { body: { template_id: id } }),
    onSuccess: (_, { template_name }) => onMessage({ tone: 'good', text: `Template "${template_name}" withdrawn` }),
    onError: (failure) => onMessage({ tone: 'bad', text: `Error: ${sentenceOf(failure)}` }),
  });

  function askAndRemove(template: Template) {
    const question = `Withdraw "${template.template_name}"? Customers can’t request it anymore. Those with this plan keep it.`;
    if (window.confirm(question)) remove.mutate(template);
  }

  return (
    <div className="templates">
      <TemplateForm draft={draft} onChange={onChange} onMessage={onMessage} />
      <Card title="Available plans">
        {!templates && !error && <LoadingRows label="Loading the templates" />}
        {!templates && error && <p className="sub">We couldn’t load the templates.</p>}
        {templates?.length === 0 && (
          <EmptyState
            icon={<IconTemplate size={28} stroke={1.7} />}
            title="No templates yet"
            sentence="Create a template to offer a plan. Customers can request it, and you can assign it quickly."
          />
        )}
        {templates && templates.length > 0 && (
          <FocusKept>
            <div className="plan-grid">
              {templates.map((template) => (
                <PlanCard key={template.id} plan={template}>
                  <Button variant="quiet" onClick={() => onUse(template)}>
                    Use Template <span className="visually-hidden">{template.template_name}</span>
                  </Button>
                  <Button
                    variant="text"
                    size="s"
                    loading={remove.isPending && remove.variables.id === template.id}
                    onClick={() => askAndRemove(template)}
                  >
                    Withdraw <span className="visually-hidden">{template.template_name}</span>
                  </Button>
                </PlanCard>
              ))}
            </div>
          </FocusKept>
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
