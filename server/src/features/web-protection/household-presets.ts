import type { AgeGroup, ProfileRules } from '@palisade/contract/household';
import { SERVICES, type WebService } from './services.ts';

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7];
const SCHOOL_DAYS = [1, 2, 3, 4, 5];

const servicesOf = (...kinds: WebService['kind'][]) => SERVICES.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id);

/** Returns a new copy of the initial rules for an age group. Guardians can see and change all of them. */
export function presetOf(age_group: AgeGroup): ProfileRules {
  switch (age_group) {
    case 'small_child':
      return {
        categories: ['adult', 'gambling', 'ways_around'],
        services: servicesOf('video', 'games', 'chats'),
        safe_search: 'strict',
        times: [{ days: [...EVERY_DAY], from: '19:30', to: '06:30', refuses: 'all' }],
      };
    case 'child':
      return {
        categories: ['adult', 'gambling', 'ways_around'],
        // The operators of these services accept members from the age of 13.
        services: servicesOf('chats'),
        safe_search: 'strict',
        times: [
          { days: [...EVERY_DAY], from: '21:00', to: '06:30', refuses: 'all' },
          { days: [...SCHOOL_DAYS], from: '00:00', to: '17:00', refuses: 'video' },
          { days: [...SCHOOL_DAYS], from: '00:00', to: '17:00', refuses: 'games' },
        ],
      };
    case 'teenager':
      return {
        categories: ['adult', 'gambling', 'ways_around'],
        services: [],
        safe_search: 'moderate',
        times: [
          { days: [...EVERY_DAY], from: '22:30', to: '06:00', refuses: 'all' },
          { days: [...SCHOOL_DAYS], from: '08:00', to: '13:00', refuses: 'video' },
          { days: [...SCHOOL_DAYS], from: '08:00', to: '13:00', refuses: 'games' },
        ],
      };
    case 'sixteen':
      // By law, gambling is for adults. Everything else is the person's own decision.
      return { categories: ['gambling'], services: [], safe_search: 'off', times: [] };
  }
}
