import { type ReactNode, useDeferredValue } from 'react';
import { sentenceOf } from '#api/call.ts';
import { ErrorNotice, LoadingRows } from './states.tsx';

/** A list as far as it was read. */
export interface ListRead<Row> {
  /** Undefined until they have been read. */
  rows: readonly Row[] | undefined;
  /** The rows answer an earlier question, until this one is answered: that they are none says nothing yet. */
  isOutdated?: boolean | undefined;
  error: Error | null;
  /** Reads it anew. */
  refetch: () => unknown;
}

interface ListedProps<Row> {
  /** The list in a sentence: "the outbox". */
  of: string;
  list: ListRead<Row>;
  /** Title of a failure, where the specification has words of its own. */
  failed?: string;
  /** The first rows are drawn in slices after the rest of the page: in one task with it they hold a phone for longer than a press may wait. For a list with nothing below it, which would move. */
  isSliced?: boolean;
  /** Content while the list is empty. */
  empty: ReactNode;
  children: (rows: readonly Row[]) => ReactNode;
}

/** A list in each of its states: on its way, failed, empty, there. One that was read before stays beneath the failure of reading it again. */
export function Listed<Row>({
  of,
  list: { rows: read, isOutdated = false, error, refetch },
  failed = `We couldn’t load ${of}`,
  isSliced = false,
  empty,
  children,
}: ListedProps<Row>) {
  const answered = isOutdated && read?.length === 0 ? undefined : read;
  // Rows that were there when the list came are drawn with it.
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

/** Rows that fill a window. */
const AT_ONCE = 12;

/** The first window of rows is drawn at once, the others in slices after that: on a phone fifty rows as one task hold the page for longer than a press may wait. */
function Rows<Row>({ rows, children }: Pick<ListedProps<Row>, 'children'> & { rows: readonly Row[] }) {
  const areAllWanted = useDeferredValue(true, false);
  return children(areAllWanted ? rows : rows.slice(0, AT_ONCE));
}
