import { TextInput, type TextInputProps } from '@mantine/core';
import { addressIn } from '@palisade/contract/email';

/** An email field. Extracts the address from pasted text such as "Name <address>", so that the person sees the value that is sent, and browsers remember it. */
export function EmailField({ onChange, ...props }: Omit<TextInputProps, 'type'>) {
  return (
    <TextInput
      size="md"
      withAsterisk={false}
      {...props}
      type="email"
      onChange={(event) => {
        const field = event.currentTarget;
        // Typed text is not changed.
        if ('inputType' in event.nativeEvent && String(event.nativeEvent.inputType).startsWith('insertFrom'))
          field.value = addressIn(field.value);
        onChange?.(event);
      }}
    />
  );
}
