import { devicePathSchema } from '@palisade/contract/agent';
import { useEffect, useRef, useState } from 'react';
import { Form, Submit } from '#ui/form.tsx';
import { Row } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';

interface PathFormProps {
  label: string;
  /** Label of the submit button. */
  action: string;
  onSubmit: (path: string) => void;
}

/** A form for one absolute path on a device. Validates on submit. */
export function PathForm({ label, action, onSubmit }: PathFormProps) {
  const [path, setPath] = useState('');
  const [message, setMessage] = useState('');
  const field = useRef<HTMLInputElement>(null);
  // The person types here next.
  useEffect(() => field.current?.focus(), []);
  return (
    <Form
      error={message}
      busy={false}
      onSubmit={() => {
        const read = devicePathSchema.safeParse(path.trim());
        if (read.success) {
          setPath('');
          setMessage('');
          onSubmit(read.data);
        } else {
          setMessage('Enter a full path, like /home/maria/Downloads.');
          field.current?.focus();
        }
      }}
    >
      <Row gap="2">
        <input
          ref={field}
          className="field grow"
          aria-label={label}
          aria-invalid={message !== ''}
          placeholder="/home/maria/Downloads"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
        />
        <Submit size="s" variant="quiet">
          {action}
        </Submit>
      </Row>
      <Refusal error={message}>{message}</Refusal>
    </Form>
  );
}
