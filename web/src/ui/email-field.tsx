import { TextInput, type TextInputProps } from '@mantine/core';
import { addressIn } from '@palisade/contract/email';

/** The field of an email address. A pasted address is taken out of the name and the signs around it, so that the person sees what is sent and a browser keeps that. */
export function EmailField({ onChange, ...props }: Omit<TextInputProps, 'type'>) {
  return (
    <TextInput
      size="md"
      withAsterisk={false}
      {...props}
      type="email"
      onChange={(event) => {
        const field = event.currentTarget;
        // A text that is being typed is left alone.
        if ('inputType' in event.nativeEvent && String(event.nativeEvent.inputType).startsWith('insertFrom'))
          field.value = addressIn(field.value);
        onChange?.(event);
      }}
    />
  );
}
