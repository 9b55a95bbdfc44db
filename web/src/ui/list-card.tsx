import type { ReactNode } from 'react';
import { Card } from './card.tsx';
import { FocusKept } from './focus-kept.tsx';
import { Listed, type ListRead } from './listed.tsx';
import { type Column, Records } from './records.tsx';
import { RefreshedCard } from './refreshed-card.tsx';

interface ListCardProps<Row> {
  title: string;
  /** Name of the list within a sentence: "the outbox". */
  of: string;
  /** `more` is the control that loads the next rows. */
  list: ListRead<Row> & { more?: ReactNode };
  /** Content at the end of the heading's line. */
  action?: ReactNode;
  /** Shows a Refresh button instead of `action`. */
  hasRefresh?: boolean;
  filters?: ReactNode;
  /** Content of an empty list. */
  empty: ReactNode;
  children: (rows: readonly Row[]) => ReactNode;
}

/** A list with its heading, filters and states. */
export function ListCard<Row>({ title, of, list, action, hasRefresh, filters, empty, children }: ListCardProps<Row>) {
  const contentOf = (refetch: () => unknown) => (
    <>
      {filters}
      {/* Keeps the focus when a pressed button is removed with its record. */}
      <FocusKept>
        <Listed of={of} list={{ ...list, refetch }} empty={empty}>
          {children}
        </Listed>
      </FocusKept>
      {list.more}
    </>
  );
  if (hasRefresh)
    return (
      <RefreshedCard title={title} onRefresh={async () => list.refetch()}>
        {contentOf}
      </RefreshedCard>
    );
  return (
    <Card title={title} action={action}>
      {contentOf(list.refetch)}
    </Card>
  );
}

/** Width in px up to which records are cards: a table of seven columns needs more. */
const CARDS_UP_TO = 1100;

interface TableCardProps<Row extends { id: string }> extends Omit<ListCardProps<Row>, 'children'> {
  columns: readonly Column<Row>[];
  /** Actions on a record. */
  rowAction?: (row: Row) => ReactNode;
  /** Total number of records, in words. */
  counted?: string;
}

/** A list whose records are a table with the card's title. */
export function TableCard<Row extends { id: string }>({ columns, rowAction, counted, ...card }: TableCardProps<Row>) {
  return (
    <ListCard {...card}>
      {(rows) => (
        <>
          {counted !== undefined && (
            <p className="sub num" role="status">
              {counted}
            </p>
          )}
          <Records label={card.title} rows={rows} columns={columns} cardsUpTo={CARDS_UP_TO} action={rowAction} />
        </>
      )}
    </ListCard>
  );
}
