import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { Form, Submit } from './form.tsx';

const said = { onSubmit: vi.fn(), onEdit: vi.fn() };

function form(error: Error | null, busy: boolean) {
  return (
    <Form {...said} error={error} busy={busy} aria-label="Trial">
      <input aria-label="First" />
      <input aria-label="Second" aria-invalid={error !== null} />
      <Submit>Send</Submit>
    </Form>
  );
}

describe('a form', () => {
  it('is sent by Enter and by its button, and not while a try is on its way', async () => {
    said.onSubmit.mockClear();
    const user = userEvent.setup();
    const { rerender } = render(form(null, false));
    await user.type(screen.getByLabelText('First'), 'a{Enter}');
    await user.click(screen.getByRole('button', { name: 'Send' }));
    expect(said.onSubmit).toHaveBeenCalledTimes(2);
    rerender(form(null, true));
    expect(screen.getByRole('button', { name: 'Send' })).toBeDisabled();
    await user.type(screen.getByLabelText('First'), '{Enter}');
    expect(said.onSubmit).toHaveBeenCalledTimes(2);
  });

  it('gives the focus to the first field that is wrong, with each refusal once', async () => {
    const user = userEvent.setup();
    const { rerender } = render(form(null, false));
    const [first, second] = [screen.getByLabelText('First'), screen.getByLabelText('Second')];
    const refused = new Error('refused');
    rerender(form(refused, false));
    expect(second).toHaveFocus();
    await user.click(first);
    rerender(form(refused, false));
    expect(first).toHaveFocus();
    rerender(form(new Error('refused again'), false));
    expect(second).toHaveFocus();
  });

  it('takes back what was said of the last try as soon as something is typed, but not while another is on its way', async () => {
    said.onEdit.mockClear();
    const user = userEvent.setup();
    const { rerender } = render(form(null, true));
    await user.type(screen.getByLabelText('First'), 'a');
    expect(said.onEdit).not.toHaveBeenCalled();
    rerender(form(null, false));
    await user.type(screen.getByLabelText('First'), 'b');
    expect(said.onEdit).toHaveBeenCalledTimes(1);
  });
});
