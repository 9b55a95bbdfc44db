import type { Household } from '@palisade/contract/household';
import type { WebProtection } from '@palisade/contract/web-protection';
import type { useAsked } from '#ui/use-asked.ts';
import { HomeCard, LimitsCard } from './home-card.tsx';
import { ProfileCard } from './profile-card.tsx';

interface PeopleProps {
  home: Household;
  web: Pick<WebProtection, 'categories' | 'services'>;
  asked: ReturnType<typeof useAsked>;
}

/** All parts of a home with people. */
export function People({ home, web, asked }: PeopleProps) {
  return (
    <>
      {home.profiles.map((profile) => (
        <ProfileCard
          key={profile.id}
          profile={profile}
          home={home}
          web={web}
          reach={profile.id === asked.id ? asked.reach : undefined}
        />
      ))}
      <HomeCard home={home} />
      <LimitsCard />
    </>
  );
}
