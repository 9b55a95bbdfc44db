import { Textarea } from '@mantine/core';

/** Maximum text length, in characters: the agent passes 256 KiB in either direction, and a character may take three bytes. */
const LONGEST = 80_000;
const BEYOND_LATIN_1 = /[^\p{ASCII}\u0080-\u00ff]/u;

interface SharedClipboardProps {
  device_name: string;
  value: string;
  /** Whether the computer currently accepts Unicode text. Otherwise it accepts only Latin-1, and would replace other characters with question marks. */
  takesAllLetters: () => boolean;
  onChange: (text: string) => void;
  /** Sends a text that arrives unchanged. */
  onSend: (text: string) => void;
}

/** The clipboard of the controlled computer: text from there is shown, and text from here is sent. */
export function SharedClipboard({ device_name, value, takesAllLetters, onChange, onSend }: SharedClipboardProps) {
  const isRefused = (text: string) => BEYOND_LATIN_1.test(text) && !takesAllLetters();
  return (
    <Textarea
      label={`Clipboard of ${device_name}`}
      rows={2}
      maxLength={LONGEST}
      value={value}
      error={isRefused(value) ? 'Not sent. This computer takes only Western European letters.' : undefined}
      onChange={({ currentTarget }) => {
        onChange(currentTarget.value);
        if (!isRefused(currentTarget.value)) onSend(currentTarget.value);
      }}
    />
  );
}
