import { IconDownload } from '@tabler/icons-react';
import type { UseMutationResult } from '@tanstack/react-query';
import { Button } from './button.tsx';

export type RecordFormat = 'csv' | 'json';

/** Saves a record as a table or as JSON. `what` ends the sentence "Save ... as CSV". */
export function SaveAs({ what, save }: { what: string; save: UseMutationResult<Blob, Error, RecordFormat> }) {
  return (['csv', 'json'] as const).map((format) => (
    <Button
      key={format}
      variant="quiet"
      size="s"
      icon={<IconDownload size={16} stroke={1.7} aria-hidden="true" />}
      loading={save.isPending && save.variables === format}
      aria-label={`Save ${what} as ${format.toUpperCase()}`}
      onClick={() => save.mutate(format)}
    >
      {format.toUpperCase()}
    </Button>
  ));
}
