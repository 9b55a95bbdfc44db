/** The most that fits beside a name. */
const COUNT_MAXIMUM = 99;

/** Number of waiting records behind a link, and its words. Empty for none. */
export function NavCount({ count, one, many }: { count: number; one: string; many: string }) {
  if (count === 0) return null;
  return (
    <span className="nav-count num">
      <span aria-hidden="true">{count > COUNT_MAXIMUM ? `${COUNT_MAXIMUM}+` : count}</span>
      <span className="visually-hidden">{count === 1 ? `1 ${one}` : `${count} ${many}`}</span>
    </span>
  );
}
