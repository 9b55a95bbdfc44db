import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { Form, Submit } from './form.tsx';
import { renderForTest } from './render-for-test.tsx';

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

  it('says at each field what is missing, sends nothing until it is there, and takes it back as it is typed', async () => {
    const onSubmit = vi.fn();
    const user = userEvent.setup();
    renderForTest(
      <Form error={null} busy={false} onSubmit={onSubmit} aria-label="Trial">
        <TextInput label="Name" name="name" required description="As on the letter." />
        <TextInput label="Email" name="email" type="email" required />
        <Submit>Send</Submit>
      </Form>,
    );
    expect(screen.getByRole('form', { name: 'Trial' })).toHaveAttribute('novalidate');
    await user.type(screen.getByLabelText(/^Email/u), 'maria');
    await user.click(screen.getByRole('button', { name: 'Send' }));
    expect(onSubmit).not.toHaveBeenCalled();
    const name = screen.getByLabelText(/^Name/u);
    expect(name).toHaveFocus();
    expect(name).toBeInvalid();
    expect(name).toHaveAccessibleDescription('As on the letter. Fill in this field to continue.');
    expect(screen.getByLabelText(/^Email/u)).toHaveAccessibleDescription(/^Enter an email address/u);

    await user.type(name, 'M');
    expect(name).toBeValid();
    expect(name).toHaveAccessibleDescription('As on the letter.');
    expect(screen.getByText(/^Enter an email address/u)).toBeVisible();
    await user.type(screen.getByLabelText(/^Email/u), '@example.com');
    await user.click(screen.getByRole('button', { name: 'Send' }));
    expect(onSubmit).toHaveBeenCalledTimes(1);
  });

  it('looks at fields of several lines and at choices as well', async () => {
    const onSubmit = vi.fn();
    const user = userEvent.setup();
    renderForTest(
      <Form error={null} busy={false} onSubmit={onSubmit} aria-label="Trial">
        <Textarea label="Words" name="words" required />
        <NativeSelect label="Kind" name="kind" required data={['', 'One']} />
        <Submit>Send</Submit>
      </Form>,
    );
    await user.click(screen.getByRole('button', { name: 'Send' }));
    expect(onSubmit).not.toHaveBeenCalled();
    expect(screen.getByLabelText(/^Words/u)).toHaveFocus();
    expect(screen.getByLabelText(/^Kind/u)).toBeInvalid();
    await user.type(screen.getByLabelText(/^Words/u), 'some');
    await user.selectOptions(screen.getByLabelText(/^Kind/u), 'One');
    await user.click(screen.getByRole('button', { name: 'Send' }));
    expect(onSubmit).toHaveBeenCalledTimes(1);
  });
});
