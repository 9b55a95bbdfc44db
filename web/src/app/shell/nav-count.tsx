/** Largest number that fits beside a name. */
const COUNT_MAXIMUM = 99;

/** Number of waiting records behind a link, with words for screen readers: "2 reports wait". Empty for none. */
export function NavCount({ count, words }: { count: number; words: string }) {
  if (count === 0) return null;
  return (
    <span className="nav-count num push round centered tiny bold amber">
      <span aria-hidden="true">{count > COUNT_MAXIMUM ? `${COUNT_MAXIMUM}+` : count}</span>
      <span className="visually-hidden">{words}</span>
    </span>
  );
}
