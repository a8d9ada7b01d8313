/** Sentences that we wrote ourselves, to show the heads what rules alone do not name. `{a|b}` stands for each choice. */
const DISSATISFIED = [
  "{no|no,|sorry|actually|i just|i don't|i do not|it's not|it is not|not|but|again|instead|you didn't|that can't be|no not} {the hotel|the train|the restaurant|a taxi|the price|the area|for me|one|the time|the room}{|.| please| then}",
  "{no|no,|no sorry,|no but|sorry,|i'm sorry,|actually,|actually no,} {i need|i want|i'd like|i would prefer|i'd prefer|i am looking for|i'm looking for|it has to be|i have to have|i really need|i just need} {a cheap one|one in the south|a place in the north instead|a different area|one that serves lunch|an earlier train|one with parking|a bigger room|the address|one that arrives before noon}{| please| if possible|. can you try that}",
  '{no|no,|sorry,|well,|hmm,} {how about|what about|can you try|could you try|can we try|is there one for|do you have one for|then try|please try} {tuesday|one night|another day|another hotel|a different time|a different restaurant|italian food|the cheap one|the east|a guest house}{| instead| then}{|?}',
  "{i don't really care|i really don't care|i do not care|any of those is fine but|i don't have a preference but|no preference, but} {about the area|about the price|which one|it must have parking|it should be cheap|i just need the address|just pick one|can you just pick one|just book one of those}",
  "{but|yes but|ok but|thanks but|that is fine but|i see but} {i need|i asked for|i wanted|i still need|what about|you didn't give me|can you also check|that is} {the address|a cheaper one|the other one|parking|not what i need|too far|the number}",
  "{no|nope|no sorry|sorry no}, {not that one|not this one|something else|another one|a different one|i need another one|i want a different one|that is not it|that's not it|that's not right|it is not right|i meant the other one|make it earlier|make it later|change it|change the date|change the time|find me another|find another|find something else|try another one|show me others|i want something else|i would rather have something else|i'd prefer something else}",
  '{no|nope|actually no|no sorry}, {i need it|i want it|i would like it|it should be|it has to be|make it|i said} {for two people|for tomorrow|for next week|in the morning|at six|on monday|in the city centre|in my room|on the other one|for the other person|instead}',
  "{i don't want|i do not want|i don't need|i do not need|i don't like|i do not like} {that|that one|it|this one|to do that|that anymore|to wait|any of those|any of them|this at all}",
  "{sorry|actually|sorry but|but|wait}, {i need something else|i changed my mind|that is not what i need|i wanted another one|i need the other one|that's not what i wanted|i meant something else|can you try again|can we start over|can you check again|could you look again|i was looking for something different}",
  "{can you|could you|please|can't you} {try again|check again|look again|try a different one|try another one|find another one|find a different one|find some others|show me more|give me other options|change it|fix it|correct that}",
  "{no|not right now|not now|not at the moment|not yet|not at this time|no not now|no not right now|no not at this time|no not yet|not today|no thank you not now|no i don't|no i do not|no it's not|no it isn't|no that isn't right|no don't|no please don't|no i don't want to|no i don't want that|no that won't work|that won't work|that doesn't work for me|it does not work for me}",
  "{i don't care|i do not care|i don't care about that|it doesn't matter|i just need|i just want|i only want|i really need|i really just need} {the address|the number|a place|an answer|one|it to work|you to do it|the booking|anything}",
  '{are there any others|are there other options|is there anything else|do you have anything else|do you have other options|what else do you have|anything else available|any other options|any others|are there more options|more options please|other options please|what about another one|how about another one instead|is there a different one|can i get a different one instead}',
  "{that's too bad|that is too bad|oh no|that's unfortunate|that is a shame|oh that's not good|that's disappointing|too bad|bummer|that's a pity}. {what else|try another|is there another|then find another|i'll look elsewhere|never mind then|ok then another one}",
  "{this is|that is|that's|it's} {confusing|so confusing|too expensive|too far|too late|too early|too slow|taking too long|not enough|not what i need|not what i'm looking for|not for me|the wrong one|the wrong date|the wrong place|the wrong name|wrong|not correct|not working|still not working|still wrong}",
  "{i am|i'm} {confused|so confused|not satisfied|still not satisfied|not happy with that|frustrated|annoyed|still waiting|lost}",
  "{why|how come} {did you do that|can't you do it|are you asking me that again|is it so hard|don't you understand|do you keep asking|did you change it|is that}",
  '{i already told you|i told you already|i said that already|you already asked me that|again|i repeat|once again|as i said|like i said}, {i need a room|i want a refund|it is for two|on friday|the other one|the address}',
] as const;

const SATISFIED = [
  '{that|that one|it|this|this one|yes that|yes that one|ok that|great that|that time|that place} {sounds good|sounds great|sounds perfect|sounds fine|sounds nice|sounds lovely|works|works for me|is perfect|is great|is fine|is good|suits me|would be great|would be perfect|looks good|looks great}{| to me| for me| thanks| thank you}',
  "{sounds good|sounds great|sounds perfect|perfect|great|excellent|awesome|wonderful|fantastic|lovely|brilliant|super|cool|nice}{|.|!| thanks| thank you| that works| to me| that's it| go ahead| i like it| i'll take it}",
  "{great|perfect|excellent|awesome|wonderful|ok great|okay perfect|fantastic}, {can you book it|please book it|book it for me|please go ahead|i will take it|i'd like to book that|what is the address|can you tell me more|that is what i need|i like that one|let's do that|i also need a taxi}",
  "{thanks|thank you|thanks a lot|thank you so much|thank you very much|many thanks|thanks so much}{| for your help| for all your help| for the help| for the information| that is all| that's all i need| that's all i needed| bye| goodbye| have a good day| have a great day| you have been very helpful| you've been great}",
  '{i like|i love|i really like} {that|it|that one|this one|the first one|this place|that idea|the sound of that}',
  "{yes|yeah|yep|yes please|sure}, {that's perfect|that is perfect|that's great|that sounds good|that works|that is right thanks|perfect thanks|sounds great|wonderful|i love it|that would be great|i'd appreciate that|exactly what i wanted}",
  "{that's|that is|that was} {all i need|all i needed|everything|all thanks|very helpful|so helpful|really helpful|exactly what i needed|just what i wanted|all for today thank you|a big help|good to know|good news}",
  '{have a|you have a|have a very} {good day|great day|nice day|wonderful day|good one|lovely evening}{|!| too| thanks| bye}',
] as const;

/** Neither: requests and bare answers. */
const NEUTRAL = [
  "{i need|i want|i would like|i'm looking for|can you find me|please find|find me|i am searching for|could you find} {a room|a hotel|a restaurant|a train|a taxi|a flight|a table|a doctor|a place to stay|an event|a song|some information|the address|my balance}{| in the centre| in the north| for two people| for tomorrow| on friday| tonight| with parking| please| that is cheap}",
  '{yes|yes please|yeah|yep|sure|ok|okay|correct|right|yes that is correct|yes please do|go ahead|please do}{|.| for two people| on friday| at six| that would be it| i need the address| what is the phone number| book it}',
  "{what is|what's|can i have|could i get|please give me|i need|may i have|do you know} {the address|the phone number|the price|the postcode|the reference number|the rating|their number|the entrance fee|the time|the total}{|?| please| of that place}",
  "{two people|for two|tomorrow|on friday|at six|three nights|the first one|the cheap one|in the north|in the centre|any area|no preference|it doesn't matter which|london|the morning|next week}{| please|.}",
  '{does it have|do they have|is there|do they offer|does the place have|is it} {parking|wifi|free wifi|a pool|live music|vegetarian food|cheap|expensive|open on sunday|near the station|outdoor seating|breakfast}{|?}',
  "{no|nope|no thanks|no thank you}{|.|, that's all|, that is all|, that will be all|, nothing else|, that's it|, that is everything|, i'm good|, i am all set|, thanks for your help|, that's all i need}",
] as const;

/** Every sentence of a template. */
function expand(template: string): string[] {
  const match = /\{([^{}]*)\}/.exec(template);
  if (match === null) return [template];
  return (match[1] ?? '').split('|').flatMap((choice) => expand(template.replace(match[0], choice)));
}

export interface Seed {
  readonly text: string;
  /** Above this many sentences a template counts no more, however many it makes. */
  readonly weight: number;
}

const ENOUGH = 1000;

function seedsOf(template: string): Seed[] {
  const texts = expand(template);
  const weight = Math.min(1, ENOUGH / texts.length);
  return texts.map((text) => ({ text, weight }));
}

export const seeds: Readonly<Record<'satisfied' | 'dissatisfied' | 'neutral', readonly Seed[]>> = {
  satisfied: SATISFIED.flatMap(seedsOf),
  dissatisfied: DISSATISFIED.flatMap(seedsOf),
  neutral: NEUTRAL.flatMap(seedsOf),
};
