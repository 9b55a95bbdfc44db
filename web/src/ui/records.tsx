import { useMediaQuery } from '@mantine/hooks';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import './records.css';

/** One property of each record. */
export interface Column<Row, Key extends string = string> {
  key: Key;
  label: string;
  cell: (row: Row) => ReactNode;
  /** Numbers and dates stay on one line. */
  isFigure?: boolean;
  /** Position on a card outside of the list of facts: the name, the state, or the line below both. */
  onCard?: 'head' | 'state' | 'line';
  /** Cell for the line of a card, which has no label. */
  cardCell?: (row: Row) => ReactNode;
}

interface Sort<Key extends string> {
  key: Key;
  descending: boolean;
}

interface RecordsProps<Row extends { id: string }, Key extends string> {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row, Key>[];
  /** Actions on a record. */
  action?: ((row: Row) => ReactNode) | undefined;
  /** Window width in px up to which each record is a card. */
  cardsUpTo: number;
  /** Makes the headings sortable. An undefined `sort` keeps the order of the rows. */
  sorting?: { sort: Sort<Key> | undefined; onSort: (key: Key) => void };
}

/** Records as a table; on narrow screens each record is a card. */
export function Records<Row extends { id: string }, Key extends string>(props: RecordsProps<Row, Key>) {
  const isNarrow = useMediaQuery(`(max-width: ${props.cardsUpTo}px)`, undefined, { getInitialValueInEffect: false });
  return isNarrow ? <Cards {...props} /> : <Table {...props} />;
}

function Table<Row extends { id: string }, Key extends string>({
  label,
  rows,
  columns,
  action,
  sorting,
}: RecordsProps<Row, Key>) {
  return (
    <table className="records" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) =>
            sorting ? (
              <SortedHeading key={column.key} label={column.label} name={column.key} {...sorting} />
            ) : (
              <th key={column.key} scope="col">
                {column.label}
              </th>
            ),
          )}
          {action && (
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            {columns.map(({ key, cell, isFigure }) => (
              <td key={key} className={isFigure ? 'num' : undefined}>
                {cell(row)}
              </td>
            ))}
            {action && <td>{action(row)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface SortedHeadingProps<Key extends string> {
  label: string;
  name: Key;
  sort: Sort<Key> | undefined;
  onSort: (key: Key) => void;
}

function SortedHeading<Key extends string>({ label, name, sort, onSort }: SortedHeadingProps<Key>) {
  const direction = sort?.key === name ? (sort.descending ? 'descending' : 'ascending') : 'none';
  const Icon = { none: IconArrowsSort, ascending: IconArrowUp, descending: IconArrowDown }[direction];
  return (
    <th scope="col" aria-sort={direction}>
      <button type="button" onClick={() => onSort(name)}>
        {label}
        <Icon size={14} stroke={1.7} aria-hidden="true" />
      </button>
    </th>
  );
}

function Cards<Row extends { id: string }, Key extends string>({ label, rows, columns, action }: RecordsProps<Row, Key>) {
  const facts = columns.filter(({ onCard }) => onCard === undefined);
  const line = columns.filter(({ onCard }) => onCard === 'line');
  return (
    <ul className="record-cards" aria-label={label}>
      {rows.map((row) => (
        <li key={row.id} className="record-card">
          <div className="record-card__head">
            {columns.find(({ onCard }) => onCard === 'head')?.cell(row)}
            {columns.find(({ onCard }) => onCard === 'state')?.cell(row)}
          </div>
          {line.length > 0 && (
            <p className="record-card__line base">
              {line.map(({ key, cell, cardCell = cell }) => (
                <span key={key}>{cardCell(row)} </span>
              ))}
            </p>
          )}
          <dl className="record-card__facts num small">
            {facts.map(({ key, label: name, cell }) => (
              <div key={key}>
                <dt>{name}</dt>
                <dd>{cell(row)}</dd>
              </div>
            ))}
          </dl>
          {action?.(row)}
        </li>
      ))}
    </ul>
  );
}
