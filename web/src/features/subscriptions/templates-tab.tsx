import {
  changeTemplate,
  createTemplate,
  deleteTemplate,
  TEMPLATE_DURATIONS,
  type Template,
} from '@palisade/contract/subscription';
import { IconTemplate } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { flushSync } from 'react-dom';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Drawing } from '#ui/drawing.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Form } from '#ui/form.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { EmptyState, LoadingRows } from '#ui/states.tsx';
import { draftOfEdited, EMPTY_TEMPLATE, parseTemplate, type TemplateDraft } from './drafts.ts';
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
  const root = useRef<HTMLDivElement>(null);
  const remove = useChange({
    of: deleteTemplate,
    mutationFn: ({ id }: Template) => call(deleteTemplate, { body: { template_id: id } }),
    onSuccess: (_, { template_name }) => onMessage({ tone: 'good', text: `Template "${template_name}" withdrawn` }),
    onError: (failure) => onMessage({ tone: 'danger', text: `Error: ${sentenceOf(failure)}` }),
  });

  function askAndRemove(template: Template) {
    const question = `Remove “${template.template_name}” from the offer? People who have the plan keep it.`;
    if (window.confirm(question)) remove.mutate(template);
  }

  function edit(template: Template) {
    flushSync(() => {
      onMessage(undefined);
      onChange(draftOfEdited(template));
    });
    root.current?.querySelector<HTMLElement>('[name="template_name"]')?.focus();
  }

  return (
    <Grid columns="side" tablet="stack" gap="4" align="start" ref={root}>
      <Card title="Available plans">
        {!templates && !error && <LoadingRows label="Loading the templates" />}
        {!templates && error && <p className="sub">We couldn’t load the templates.</p>}
        {templates?.length === 0 && (
          <EmptyState
            icon={IconTemplate}
            drawing={<Drawing of="sheets" />}
            title="No templates yet"
            sentence="Plans you offer are listed here. Create the first one with the form."
          />
        )}
        {templates && templates.length > 0 && (
          <FocusKept>
            <Grid columns="fit-m" gap="4" className="above-2">
              {templates.map((template) => (
                <PlanCard key={template.id} plan={template}>
                  <Button variant="quiet" aria-label={`Use Template ${template.template_name}`} onClick={() => onUse(template)}>
                    Use Template
                  </Button>
                  <Row gap="2" justify="center">
                    <Button variant="text" size="s" aria-label={`Edit ${template.template_name}`} onClick={() => edit(template)}>
                      Edit
                    </Button>
                    <Button
                      variant="text"
                      size="s"
                      loading={remove.isPending && remove.variables.id === template.id}
                      aria-label={`Withdraw ${template.template_name}`}
                      onClick={() => askAndRemove(template)}
                    >
                      Withdraw
                    </Button>
                  </Row>
                </PlanCard>
              ))}
            </Grid>
          </FocusKept>
        )}
      </Card>
      {/* On a phone it is below the list, which would move it. */}
      {(templates || error) && <TemplateForm draft={draft} onChange={onChange} onMessage={onMessage} />}
    </Grid>
  );
}

function TemplateForm({ draft, onChange, onMessage }: Omit<TemplatesTabProps, 'onUse'>) {
  const { template_id } = draft;
  const { messages, refused, isBusy, change, submit } = usePlanForm({
    draft,
    onChange,
    onMessage,
    parse: parseTemplate,
    of: [createTemplate, changeTemplate],
    send: async (body) => {
      if (template_id !== undefined) {
        const { template } = await call(changeTemplate, { body: { ...body, template_id } });
        return `Template "${template.template_name}" saved successfully`;
      }
      const { template } = await call(createTemplate, { body });
      return `Template "${template.template_name}" created successfully`;
    },
    failed: template_id === undefined ? 'Failed to create template' : 'Failed to save template',
    empty: EMPTY_TEMPLATE,
  });

  return (
    <Card
      title={template_id === undefined ? 'Create a template' : 'Edit template'}
      action={
        template_id !== undefined && (
          <Button variant="quiet" size="s" onClick={() => onChange(EMPTY_TEMPLATE)}>
            Cancel
          </Button>
        )
      }
    >
      <Form noValidate gap="4" error={refused} busy={isBusy} onSubmit={submit}>
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
        {template_id === undefined ? (
          <PlanSubmit isBusy={isBusy} label="Create Template" busyLabel="Creating..." />
        ) : (
          <PlanSubmit isBusy={isBusy} label="Save Template" busyLabel="Saving..." />
        )}
      </Form>
    </Card>
  );
}
