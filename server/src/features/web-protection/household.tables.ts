import type { AgeGroup, AskAnswer, ProfilePicture } from '@palisade/contract/household';
import type { WebName } from '@palisade/contract/web-protection';
import type { Generated } from 'kysely';

export interface HouseholdTables {
  households: { id: string; time_zone: string; created_at: string };
  guardians: { user_id: string; household_id: string; joined_at: string };
  /** Invitations to become a guardian. `user_id` is the inviting guardian. */
  household_invites: {
    id: string;
    household_id: string;
    user_id: string;
    email: string;
    token_hash: string;
    created_at: string;
    expires_at: string;
  };
  profiles: {
    id: string;
    household_id: string;
    name: string;
    picture: ProfilePicture;
    age_group: AgeGroup;
    /** JSON: ids of the profiles whose people share this profile. */
    shared_by: string;
    /** JSON: `ProfileRules`. */
    rules: string;
    ask_key: string;
    /** 1: guardians know the key. 0: only the browser of the profile's person knows it. */
    is_key_shown: Generated<number>;
    paused_until: string | null;
    created_at: string;
  };
  /** Names that guardians block or allow. `until` is the end of an allow for an hour, which is stored in addition to a permanent choice. */
  profile_names: {
    id: string;
    profile_id: string;
    name: string;
    verdict: WebName['verdict'];
    until: string | null;
    created_at: string;
  };
  profile_asks: {
    id: string;
    profile_id: string;
    device_id: string | null;
    name: string;
    count: number;
    asked_at: string;
    answer: AskAnswer;
    line: string;
    answered_at: string | null;
    until: string | null;
  };
}
