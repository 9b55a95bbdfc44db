import '#ui/records.css';

/** A figure of each row. */
export interface ReportColumn<Row> {
  label: string;
  value: (row: Row) => string;
}

interface ReportTableProps<Row> {
  label: string;
  /** Heading of the first column. */
  first: string;
  columns: readonly ReportColumn<Row>[];
  rows: readonly { key: string; name: string; figures: Row; isQuiet?: boolean }[];
}

/** Figures as a table; on narrow screens each row is a card. */
export function ReportTable<Row>({ label, first, columns, rows }: ReportTableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <section className="scroll" tabIndex={0} aria-label={label}>
      <table className="records report__table num" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {columns.map((column) => (
              <th key={column.label} scope="col">
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, figures, isQuiet = false }) => (
            <tr key={key} data-quiet={isQuiet}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              {columns.map((column) => (
                <td key={column.label} data-label={column.label}>
                  {column.value(figures)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
