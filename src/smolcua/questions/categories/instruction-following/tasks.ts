/** Instructions for letters, forms, purchases and steps. */
import { crossedTexts } from "../../crossed.js";
import type { Random } from "../../random.js";
import type { Candidate, Scenario } from "../../types.js";
import { cities, people, plainWords, surnames } from "../../words.js";

const languages = ["Portuguese", "Norwegian", "Spanish", "Latvian", "Italian", "Turkish"] as const;

/** Colleagues are an exception to the rule for languages, complaints to that for names. */
export const replyLetter: Scenario = {
  name: "reply-letter",
  draw(random) {
    const [writer = "", clerk = ""] = random.some(people, 2);
    const full = `${clerk} ${random.pick(surnames)}`;
    const [house = "", written = "", wished = ""] = random.some(languages, 3);
    const colleague = random.chance(0.4);
    const wish = random.chance(0.6);
    const language = colleague ? house : wish ? wished : written;
    const otherLanguage = random.pick(
      [house, written, ...(wish ? [wished] : [])].filter((one) => one !== language),
    );
    const first = random.chance(0.5);
    const complaint = random.chance(0.4);
    const name = first || complaint ? full : clerk;
    return crossedTexts({
      situation: `The instruction for ${full}: "Answer in the language of the letter, or in the one it asks for, if it asks for one. Colleagues are always answered in ${house}. Sign the first letter to somebody with your full name, later ones with your first name alone, but every answer to a complaint with your full name." ${writer}, a ${colleague ? "colleague" : "customer"}, ${first ? "has never had a letter from" : "has had letters before from"} ${clerk} and sends a ${complaint ? "complaint" : "question"} in ${written}${wish ? ` that asks for an answer in ${wished}` : ""}.`,
      question: "In which language is the answer, and with which name is it signed?",
      fields: ["language", "signature"],
      say: (one, two) => `in ${one}, signed ${two}`,
      right: [language, name],
      slip: [otherLanguage, name === full ? clerk : full],
    });
  },
};

/** Which spelling of the name, which way to be reached. */
export const formEntries: Scenario = {
  name: "form-entries",
  draw(random) {
    const first = random.pick(people);
    const last = random.pick(surnames);
    const [one = "", two = "", third = ""] = random.some(cities, 3);
    const office = random.pick([one, two, third]);
    const home = random.pick([office, ...random.some(cities, 2)]);
    const informal = random.chance(0.5);
    const listed = office !== third;
    const writtenOnly = random.chance(0.35);
    const phone = `555-01${random.between(10, 99)}`;
    const mail = `${last.toLowerCase()}@${random.pick(plainWords)}.example`;
    const [turned, plain] = [`${last}, ${first}`, `${first} ${last}`];
    const byPhone = home === office && !writtenOnly;
    const name = listed && !informal ? turned : plain;
    return crossedTexts({
      situation: `The instruction: "In forms of the offices ${one} and ${two} the name is entered as surname, comma, first name, unless the form is informal; in all other forms as first name and surname. As contact enter the phone number if the person lives where the office is, otherwise the mail address; people who want to be written to always get their mail address entered." ${first} ${last} (phone ${phone}, mail ${mail}) lives in ${home}${writtenOnly ? " and wants to be written to" : ""}. The form is ${informal ? "an informal" : "a formal"} one of the office ${office}.`,
      question: "Which name and which contact are entered?",
      fields: ["name", "contact"],
      say: (who, contact) => `name "${who}", contact ${contact}`,
      right: [name, byPhone ? phone : mail],
      slip: [name === turned ? plain : turned, byPhone ? mail : phone],
    });
  },
};

interface Offer {
  shop: string;
  price: number;
  /** Tenths. */
  rating: number;
  days: number;
}

/** The cheapest that is allowed, or one that is a little dearer and much sooner. */
export const purchase: Scenario = {
  name: "purchase",
  draw(random) {
    const item = random.pick(["lamp", "kettle", "keyboard", "backpack", "clock", "headset", "blanket"]);
    const least = random.between(36, 44);
    const most = random.between(5, 8);
    const extra = random.between(3, 7);
    const { offers, chosen } = drawOffers(random, { least, most, extra });
    const lines = offers.map(
      ({ shop, price, rating, days }) =>
        `${shop}: ${price} euros, rated ${(rating / 10).toFixed(1)}, arrives in ${days === 1 ? "1 day" : `${days} days`}`,
    );
    const option = ({ shop, price }: Offer): Candidate => ({
      text: `the offer of ${shop} at ${price} euros`,
      values: [shop, String(price)],
    });
    const [x, y, z] = offers.filter((offer) => offer !== chosen).map(option) as [
      Candidate,
      Candidate,
      Candidate,
    ];
    return {
      situation: `The instruction: "Buy a ${item}. Only offers rated ${(least / 10).toFixed(1)} or better that arrive in ${most} days or less are allowed. Take the cheapest of these, unless another allowed one costs at most ${extra} euros more and arrives at least 2 days sooner: then take that one." The offers: ${lines.join("; ")}.`,
      question: `Which offer for the ${item} is taken?`,
      fields: ["shop", "price"],
      right: option(chosen),
      wrong: [x, y, z],
    };
  },
};

interface Limits {
  least: number;
  most: number;
  extra: number;
}

/** Four offers of which at least two are allowed, and at most one beats the cheapest allowed one. */
function drawOffers(random: Random, { least, most, extra }: Limits): { offers: Offer[]; chosen: Offer } {
  for (;;) {
    const start = random.between(20, 70);
    const prices = random.some(
      Array.from({ length: 2 * extra }, (_, at) => start + at),
      4,
    );
    const offers = random.some(cities, 4).map(
      (shop, at): Offer => ({
        shop,
        price: prices[at] ?? 0,
        rating: least + random.between(-3, 5),
        days: most + random.between(-4, 1),
      }),
    );
    const allowed = offers
      .filter(({ rating, days }) => rating >= least && days <= most)
      .sort((one, two) => one.price - two.price);
    const [cheapest, ...others] = allowed;
    if (cheapest === undefined || others.length === 0) continue;
    const sooner = others.filter(
      ({ price, days }) => price - cheapest.price <= extra && cheapest.days - days >= 2,
    );
    if (sooner.length > 1) continue;
    return { offers, chosen: sooner[0] ?? cheapest };
  }
}
