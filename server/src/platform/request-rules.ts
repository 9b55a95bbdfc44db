/** An attack that is visible in the address of a request. */
interface Pattern {
  name: 'sql_injection' | 'path_traversal' | 'script_injection' | 'command_injection';
  of: RegExp;
}

/** Based on the OWASP Core Rule Set, limited to rules that an ordinary address never matches. Matched against the decoded address in lower case. */
const PATTERNS: readonly Pattern[] = [
  { name: 'sql_injection', of: /\bunion[\s/*]+(all[\s/*]+)?select\b/ },
  { name: 'sql_injection', of: /['"]\s*(or|and)\s+['"]?\w+['"]?\s*(=|<|>|like\b)/ },
  { name: 'sql_injection', of: /\b(or|and)\s+(\d+)\s*=\s*\2(?!\d)/ },
  {
    name: 'sql_injection',
    of: /['";)]\s*(drop\s+(table|database)|delete\s+from|insert\s+into|truncate\s+table|alter\s+table)\b/,
  },
  { name: 'sql_injection', of: /\b((pg_)?sleep|benchmark)\s*\(\s*\d|\bwaitfor\s+delay\b|\binformation_schema\b|\bxp_cmdshell\b/ },
  { name: 'path_traversal', of: /(^|[/\\=])\.\.([/\\]|$)/ },
  { name: 'path_traversal', of: /\/etc\/(passwd|shadow)\b|\/proc\/self\/|\b(boot|win)\.ini\b/ },
  { name: 'script_injection', of: /<\s*script\b|<[^>]{0,200}\bon(error|load|focus|mouseover)\s*=/ },
  { name: 'command_injection', of: /\$\{(jndi|env|lower|upper):/ },
  { name: 'command_injection', of: /[;|&`]\s*(cat\s+\/|(wget|curl)\s+\S|(ba)?sh\s+-|\/bin\/|nc\s+-)/ },
];

/** Maximum number of characters of an address that are matched: real ones are shorter, and a long one must not cost more. */
const LOOKED_AT_MAXIMUM = 4_000;

/** Files and folders of other programs that vulnerability scanners request from every server. */
const PROBES = [
  /\.(php\d?|phtml|aspx?|jspx?|cgi|cfm|do|action|bak|sql|old|swp)$/,
  /\/\.(?!well-known(\/|$))[\w-]/,
  /^\/(wp|wordpress|wp-\w+|phpmyadmin|pma|mysql|myadmin|cgi-bin|server-status|server-info|actuator|solr|jenkins|boaform|hnap1|owa|ecp|telescope|_profiler|vendor|phpunit|struts|invoker|jmx-console|web-console)(\/|$)/,
  /^\/(manager\/html|autodiscover\/|console\/login|web\.config|config\.(json|ya?ml|xml)|id_rsa|(backup|dump|database|db)\.(zip|gz|tar|tgz|sqlite3?))/,
];

function decodeOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? url;
}

/** Maximum number of harmless addresses that are cached: pages request the same few repeatedly. Long ones are not cached. */
const HARMLESS_MAXIMUM = 500;
const HARMLESS_LENGTH_MAXIMUM = 200;
const harmless = new Set<string>();

/** The attack in an address, or undefined. Also finds it encoded once or twice. */
export function exploitIn(url: string): Pattern['name'] | undefined {
  if (harmless.has(url)) return undefined;
  const found = findExploit(url);
  if (found === undefined && url.length <= HARMLESS_LENGTH_MAXIMUM) {
    if (harmless.size >= HARMLESS_MAXIMUM) harmless.clear();
    harmless.add(url);
  }
  return found;
}

function findExploit(url: string): Pattern['name'] | undefined {
  const decoded = decodeOnce(decodeOnce(url.slice(0, LOOKED_AT_MAXIMUM).replaceAll('+', ' '))).toLowerCase();
  return PATTERNS.find(({ of }) => of.test(decoded))?.name;
}

/** Whether the address is typical of vulnerability scanners; never true for a page of this application. */
export function isProbe(url: string): boolean {
  const path = decodeOnce(pathOf(url.slice(0, LOOKED_AT_MAXIMUM))).toLowerCase();
  return PROBES.some((probe) => probe.test(path));
}
