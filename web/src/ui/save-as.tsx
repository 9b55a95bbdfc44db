import { IconDownload } from '@tabler/icons-react';
import type { UseMutationResult } from '@tanstack/react-query';
import { Button } from './button.tsx';

export type RecordFormat = 'csv' | 'json';

/** Saves a record as a table or as JSON. `labels` are the labels of the two buttons. */
export function SaveAs({
  labels,
  save,
}: {
  labels: Record<RecordFormat, string>;
  save: UseMutationResult<Blob, Error, RecordFormat>;
}) {
  return (['csv', 'json'] as const).map((format) => (
    <Button
      key={format}
      variant="quiet"
      size="s"
      icon={IconDownload}
      loading={save.isPending && save.variables === format}
      aria-label={labels[format]}
      onClick={() => save.mutate(format)}
    >
      {format.toUpperCase()}
    </Button>
  ));
}
