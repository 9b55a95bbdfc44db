import { Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type CannedAnswer, changeCanned, createCanned, deleteCanned, PLACEHOLDERS } from '@palisade/contract/desk';
import { may } from '@palisade/contract/may';
import { IconMessageBolt, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { useSession } from '#api/session.ts';
import { AdministratorsOnly } from '#ui/administrators-only.tsx';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Card } from '#ui/card.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Listed } from '#ui/listed.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { EmptyState } from '#ui/states.tsx';
import { cannedQuery } from './desk.queries.ts';
import './answers-page.css';

/** Where administrators keep the canned answers. */
export function AnswersPage() {
  const user = useSession().session?.user_info;
  return (
    <Page
      title="Canned answers"
      sentence="What support says often. In an answer, / and the beginning of a shortcut put it there."
      aside={
        <ScreenLink to="/support" variant="quiet" size="s">
          To the desk
        </ScreenLink>
      }
    >
      {user && may.administrate(user) ? (
        <Answers />
      ) : (
        <AdministratorsOnly sentence="Only administrators keep the canned answers." />
      )}
    </Page>
  );
}

function Answers() {
  const { data, error, refetch } = useQuery(cannedQuery);
  const [open, setOpen] = useState<CannedAnswer | 'new'>();
  return (
    <Card
      title="Answers"
      action={
        <Button
          size="s"
          icon={<IconPlus size={16} stroke={2} aria-hidden="true" />}
          aria-haspopup="dialog"
          onClick={() => setOpen('new')}
        >
          New answer
        </Button>
      }
    >
      <Listed
        what="the canned answers"
        rows={data}
        error={error}
        onRetry={refetch}
        empty={
          <EmptyState
            icon={<IconMessageBolt size={28} stroke={1.7} />}
            title="No canned answers yet"
            sentence="Write down what is asked every day, such as how to start a remote session."
          />
        }
      >
        {(answers) => (
          <ul className="answers">
            {answers.map((answer) => (
              <li key={answer.id}>
                <button type="button" aria-haspopup="dialog" onClick={() => setOpen(answer)}>
                  <code>/{answer.shortcut}</code>
                  <b>{answer.title}</b>
                  <span className="sub">{answer.text}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Listed>
      {open && <AnswerDialog answer={open === 'new' ? undefined : open} onClose={() => setOpen(undefined)} />}
    </Card>
  );
}

type Fields = Pick<CannedAnswer, 'shortcut' | 'title' | 'text'>;

function AnswerDialog({ answer, onClose }: { answer: CannedAnswer | undefined; onClose: () => void }) {
  const form = useForm<Fields>({ initialValues: answer ?? { shortcut: '', title: '', text: '' } });
  const save = useChange({
    of: [changeCanned, createCanned],
    mutationFn: ({ shortcut, title, text }: Fields) => {
      const body = { shortcut, title, text };
      return answer ? call(changeCanned, { params: { id: answer.id }, body }) : call(createCanned, { body });
    },
    onSuccess: onClose,
    onError: (error) => form.setErrors(fieldMessagesOf(error)),
  });
  const remove = useChange({
    of: deleteCanned,
    mutationFn: (id: string) => call(deleteCanned, { params: { id } }),
    onSuccess: onClose,
  });
  return (
    <ModalWindow title={answer ? 'Change the answer' : 'New answer'} size={600} onClose={onClose}>
      <Form
        noValidate
        className="answer-form"
        error={save.error}
        busy={save.isPending}
        onSubmit={form.onSubmit((values) => save.mutate(values))}
      >
        <TextInput
          label="Shortcut"
          size="md"
          description="Typed after /: letters, digits and dashes."
          placeholder="remote"
          {...form.getInputProps('shortcut')}
        />
        <TextInput label="Title" size="md" maxLength={80} {...form.getInputProps('title')} />
        <Textarea
          label="Text"
          size="md"
          rows={7}
          description={`Filled in when it is used: ${PLACEHOLDERS.map((name) => `{{${name}}}`).join(', ')}.`}
          {...form.getInputProps('text')}
        />
        <Refusal error={Object.keys(form.errors).length === 0 ? (save.error ?? remove.error) : undefined} />
        <div className="modal-window__actions">
          {answer && (
            <Button
              variant="text"
              loading={remove.isPending}
              onClick={() => {
                if (window.confirm(`Delete the canned answer /${answer.shortcut}?`)) remove.mutate(answer.id);
              }}
            >
              Delete
            </Button>
          )}
          <Submit>Save</Submit>
        </div>
      </Form>
    </ModalWindow>
  );
}
