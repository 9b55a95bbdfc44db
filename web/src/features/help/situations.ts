import type { ArticleSummary } from '@palisade/contract/help';
import {
  IconAlertTriangle,
  IconCreditCard,
  IconDeviceMobile,
  IconLink,
  IconLock,
  IconPhone,
  IconShieldX,
  IconUserQuestion,
  type TablerIcon,
} from '@tabler/icons-react';

/** An urgent situation, and the help page for it. */
interface Situation {
  slug: string;
  words: string;
  icon: TablerIcon;
}

/** The most urgent first, because they get worse with time. */
const SITUATIONS: readonly Situation[] = [
  { slug: 'i-paid', words: 'I paid a scammer', icon: IconCreditCard },
  { slug: 'somebody-called-me', words: 'Someone called me', icon: IconPhone },
  { slug: 'strange-mail-or-link', words: 'A strange email or link', icon: IconLink },
  { slug: 'ransom-note', words: 'My files are locked', icon: IconLock },
  { slug: 'a-file-is-infected', words: 'My file is infected', icon: IconShieldX },
  { slug: 'someone-signed-in', words: 'Someone signed in as me', icon: IconUserQuestion },
  { slug: 'lost-phone', words: 'I lost my phone', icon: IconDeviceMobile },
  { slug: 'warning-with-a-number', words: 'My screen says I must call', icon: IconAlertTriangle },
];

/** Urgent situations whose help page is published, and all other help pages. */
export function sortedBySituation(articles: readonly ArticleSummary[]): { urgent: Situation[]; others: ArticleSummary[] } {
  const urgent = SITUATIONS.filter(({ slug }) => articles.some((article) => article.slug === slug));
  return { urgent, others: articles.filter(({ slug }) => !urgent.some((situation) => situation.slug === slug)) };
}
