import { type ReactNode, useDeferredValue } from 'react';
import { sentenceOf } from '#api/call.ts';
import { ErrorNotice, LoadingRows } from './states.tsx';

interface ListedProps<Row> {
  /** Said while it is on its way. */
  loading: string;
  /** Undefined until they have been read. */
  rows: readonly Row[] | undefined;
  /** The rows answer an earlier question, until this one is answered: that they are none says nothing yet. */
  isOutdated?: boolean;
  error: Error | null;
  /** Title of a failure. */
  failed: string;
  onRetry: () => unknown;
  /** The first rows are drawn in slices after the rest of the page: in one task with it they hold a phone for longer than a press may wait. For a list with nothing below it, which would move. */
  isSliced?: boolean;
  /** Content while the list is empty. */
  empty: ReactNode;
  children: (rows: readonly Row[]) => ReactNode;
}

/** A list in each of its states: on its way, failed, empty, there. One that was read before stays beneath the failure of reading it again. */
export function Listed<Row>({
  loading,
  rows: read,
  isOutdated = false,
  isSliced = false,
  error,
  failed,
  onRetry,
  empty,
  children,
}: ListedProps<Row>) {
  const answered = isOutdated && read?.length === 0 ? undefined : read;
  // Rows that were there when the list came are drawn with it.
  const isDrawn = useDeferredValue(answered !== undefined, answered !== undefined);
  const rows = isDrawn || !isSliced ? answered : undefined;
  return (
    <>
      {error && <ErrorNotice title={failed} sentence={sentenceOf(error)} onRetry={() => void onRetry()} />}
      {!rows && !error && <LoadingRows label={loading} />}
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
