import type { WebCategory } from '@palisade/contract/web-protection';
import type { NameList, NameSet } from '@palisade/names/name-list';
import type { DomainLists } from './domain-lists.ts';
import { listOf } from './name-rules.ts';
import { SERVICES, type WebService } from './services.ts';

/** Hosts of public DNS resolvers, relays and proxy networks, with which a device could bypass web protection. */
const WAYS_AROUND = `
  mask.icloud.com mask-h2.icloud.com dns.google dns.google.com one.one.one.one cloudflare-dns.com dns.quad9.net dns9.quad9.net dns10.quad9.net
  dns11.quad9.net doh.opendns.com doh.familyshield.opendns.com dns.nextdns.io dns.adguard.com dns.adguard-dns.com doh.cleanbrowsing.org dns.mullvad.net
  doh.mullvad.net freedns.controld.com dns.controld.com doh.dns.sb dns0.eu doh.libredns.gr dns.switch.ch odvr.nic.cz doh.ffmuc.net dns.digitale-gesellschaft.ch
  torproject.org psiphon.ca hidemyass.com hide.me kproxy.com croxyproxy.com proxysite.com nordvpn.com expressvpn.com surfshark.com protonvpn.com mullvad.net
  windscribe.com tunnelbear.com cyberghostvpn.com hotspotshield.com ultrasurf.us lantern.io getlantern.org`;

const namesOfKind = (kind: WebService['kind']) =>
  listOf(SERVICES.filter((service) => service.kind === kind).flatMap(({ domains }) => domains));

/** Domains of entities that only show advertisements or track visits. Other entities of the data set also serve web pages. */
async function adDomains(): Promise<string[]> {
  // Node cannot detect the named exports of this CommonJS module.
  const { entities } = (await import('third-party-web/nostats-subset.js')).default;
  return entities
    .filter(({ categories }) => categories.length > 0 && categories.every((one) => one === 'ad' || one === 'analytics'))
    .flatMap(({ domains }) => domains.map((domain) => domain.replace(/^\*\./u, '')));
}

/** The name lists of categories and services. */
export class CategoryLists {
  private readonly categories = new Map<WebCategory, NameList>();
  private readonly domainLists: Pick<DomainLists, 'of'>;
  private readonly services = new Map(SERVICES.map(({ id, domains }) => [id, listOf(domains)]));

  private readonly kinds = { video: namesOfKind('video'), games: namesOfKind('games'), chats: namesOfKind('chats') };

  private constructor(domainLists: Pick<DomainLists, 'of'>) {
    this.domainLists = domainLists;
  }

  static async open(domainLists: Pick<DomainLists, 'of'>): Promise<CategoryLists> {
    const lists = new CategoryLists(domainLists);
    lists.categories.set('ads', listOf(await adDomains()));
    lists.categories.set('ways_around', listOf(WAYS_AROUND.trim().split(/\s+/u)));
    return lists;
  }

  private of(category: WebCategory): NameList[] {
    const own = this.categories.get(category);
    return [...(own === undefined ? [] : [own]), ...this.domainLists.of(category)];
  }

  /** Number of names in a category. */
  count(category: WebCategory): number {
    return this.of(category).reduce((sum, { size }) => sum + size, 0);
  }

  /** The set of names of all services of a kind. */
  ofKind(kind: WebService['kind']): NameSet {
    return this.kinds[kind];
  }

  /** The lists of the chosen categories and services, each with the category that a refusal reports. */
  chosen({ categories, services }: { categories: readonly WebCategory[]; services: readonly string[] }) {
    return [
      ...categories.flatMap((category) => this.of(category).map((names) => ({ category: String(category), names }))),
      ...services.flatMap((category) => {
        const names = this.services.get(category);
        return names === undefined ? [] : [{ category, names }];
      }),
    ];
  }
}
