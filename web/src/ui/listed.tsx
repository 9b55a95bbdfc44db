import { type ReactNode, useDeferredValue } from 'react';
import { sentenceOf } from '#api/call.ts';
import { ErrorNotice, LoadingRows } from './states.tsx';

/** Rows and state of a list query. */
export interface ListRead<Row> {
  /** Undefined while loading. */
  rows: readonly Row[] | undefined;
  /** True if the rows belong to the previous filter. If they are empty, the new result is still unknown. */
  isOutdated?: boolean | undefined;
  error: Error | null;
  refetch: () => unknown;
}

interface ListedProps<Row> {
  /** Name of the list within a sentence: "the outbox". */
  of: string;
  list: ListRead<Row>;
  /** Title of a failure, if the specification prescribes one. */
  failed?: string;
  /** Renders the first rows in a transition after the rest of the page, because one task would block a phone longer than a press may wait. Only for a list with no content below, which would move. */
  isSliced?: boolean;
  /** Content of an empty list. */
  empty: ReactNode;
  children: (rows: readonly Row[]) => ReactNode;
}

/** A list in each of its states: loading, failed, empty and loaded. Loaded rows stay below the error of a failed refetch. */
export function Listed<Row>({
  of,
  list: { rows: read, isOutdated = false, error, refetch },
  failed = `We couldn’t load ${of}`,
  isSliced = false,
  empty,
  children,
}: ListedProps<Row>) {
  const answered = isOutdated && read?.length === 0 ? undefined : read;
  // Cached rows render at once.
  const isDrawn = useDeferredValue(answered !== undefined, answered !== undefined);
  const rows = isDrawn || !isSliced ? answered : undefined;
  return (
    <>
      {error && <ErrorNotice title={failed} sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {!rows && !error && <LoadingRows label={`Loading ${of}`} />}
      {rows && (rows.length === 0 ? empty : <Rows rows={rows}>{children}</Rows>)}
    </>
  );
}

/** Number of rows that fill a window. */
const AT_ONCE = 12;

/** Renders the first rows at once and the others in a transition, because fifty rows in one task block a phone longer than a press may wait. */
function Rows<Row>({ rows, children }: Pick<ListedProps<Row>, 'children'> & { rows: readonly Row[] }) {
  const areAllWanted = useDeferredValue(true, false);
  return children(areAllWanted ? rows : rows.slice(0, AT_ONCE));
}
