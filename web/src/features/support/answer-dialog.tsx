import { Textarea, TextInput } from '@mantine/core';
import { type CannedAnswer, changeCanned, createCanned, deleteCanned, PLACEHOLDERS } from '@palisade/contract/desk';
import { formatList } from '@palisade/contract/intl';
import { z } from 'zod';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { Button } from '#ui/button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { KeptNote, useKeptForm } from '#ui/kept-form.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Refusal } from '#ui/refusal.tsx';

/** Accepts incomplete input; the server validates the saved reply. */
const fieldsSchema = z.object({ shortcut: z.string(), title: z.string(), text: z.string() });
type Fields = z.infer<typeof fieldsSchema>;

const NEW: Fields = { shortcut: '', title: '', text: '' };

/** Creates or edits a saved reply. */
export function AnswerDialog({ answer, onClose }: { answer: CannedAnswer | undefined; onClose: () => void }) {
  const { form, isKept, forget } = useKeptForm(`answer.${answer?.id ?? 'new'}`, fieldsSchema, fieldsSchema.parse(answer ?? NEW));
  function forgetAndClose() {
    forget();
    onClose();
  }
  const save = useChange({
    of: [changeCanned, createCanned],
    mutationFn: (body: Fields) =>
      answer ? call(changeCanned, { params: { id: answer.id }, body }) : call(createCanned, { body }),
    onSuccess: forgetAndClose,
    onError: (error) => form.setErrors(fieldMessagesOf(error)),
  });
  const remove = useChange({
    of: deleteCanned,
    mutationFn: (id: string) => call(deleteCanned, { params: { id } }),
    onSuccess: forgetAndClose,
  });
  return (
    <ModalWindow title={answer ? 'Edit reply' : 'New reply'} size={600} onClose={onClose}>
      <Form noValidate gap="4" error={save.error} busy={save.isPending} onSubmit={form.onSubmit((values) => save.mutate(values))}>
        {isKept && <KeptNote />}
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
          description={`Filled in when it is used: ${formatList(
            PLACEHOLDERS.map((name) => `{{${name}}}`),
            'plain',
          )}.`}
          {...form.getInputProps('text')}
        />
        <Refusal error={Object.keys(form.errors).length === 0 ? (save.error ?? remove.error) : undefined} />
        <div className="modal-window__actions">
          {answer && (
            <Button
              variant="text"
              loading={remove.isPending}
              onClick={() => {
                if (window.confirm(`Delete the saved reply /${answer.shortcut}?`)) remove.mutate(answer.id);
              }}
            >
              Delete
            </Button>
          )}
          <Button variant="quiet" onClick={forgetAndClose}>
            Cancel
          </Button>
          <Submit>Save</Submit>
        </div>
      </Form>
    </ModalWindow>
  );
}
