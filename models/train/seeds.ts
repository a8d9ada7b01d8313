/** Sentences that we wrote ourselves, to show the heads what rules alone do not name. `{a|b}` stands for each choice. */
const DISSATISFIED = [
  "{no|no,|sorry|actually|it's not|it is not|not|but|again|instead|you didn't|that can't be|no not} {the hotel|the train|the restaurant|a taxi|the price|the area|for me|one|the time|the room}{|.| please| then}",
  "{no|no,|no. |no sorry,|no but|sorry,|i'm sorry,|actually,|actually no,|nope,|negative,} {i need|i want|i'd like|i would prefer|i'd prefer|i am looking for|i'm looking for|it has to be|i have to have|i really need|i said} {a cheap one|one in the south|a place in the north instead|a different area|one that serves lunch|an earlier train|one with parking|a bigger room|one that arrives before noon|to go on the 3rd|to leave on friday|3 tickets|the other one|it at 4 pm|it on the 9th of june}{| please| if possible|. can you try that| instead}",
  "{no|no,|nope,|no, actually|sorry,|negative,|that's wrong,|that is incorrect,} {play it on the other device|in the kitchen|on the tv|to the other account|make it 3 tickets|make it 11 am|on the 12th|on monday|at 6 pm|this sunday|change it to 10 am|change the date to june 4th|i am leaving on the 3rd|i'm leaving from the airport|it's for two people|it is at half past two|only one person|find me another one|find some other place|someone else|none of them|turn it off|change that}{| please| instead}",
  "{no|no,|shoot,|oh no,|no, sorry,|darn,|then} {how about|what about|can you try|could you try|can we try|then try|please try|let's try} {tuesday|one night|another day|another hotel|a different time|a different restaurant|italian food|the cheap one|the east|a guest house|a later one}{| instead| then}{|?}",
  "{how about|what about|can you try|could you try|please try|let's try|is there} {another day|another hotel|another place|a different time|a different restaurant|a different one|some other place|another time|another one|something else|one more time}{| instead| then}{|?}",
  "{but|yes but|ok but|thanks but|that is fine but|i see but|ok, but} {i asked for|i wanted|i still need|you didn't give me|can you also check|that is|is there anything} {the address|a cheaper one|the other one|not what i need|too far|the number|else|closer}",
  "{no|nope|no sorry|sorry no|no good}, {not that one|not this one|something else|another one|a different one|i need another one|i want a different one|that is not it|that's not it|that's not right|it is not right|i meant the other one|make it earlier|make it later|change it|change the date|change the time|find me another|find another|find something else|try another one|show me others|i want something else|i would rather have something else|i'd prefer something else|i don't like it|i don't like them|i didn't like that|keep trying|look again|check another day}",
  "{i don't want|i do not want|don't want|i don't like|i do not like|i'm not interested in|i am not really interested in|i don't really like} {that|that one|it|this one|any of those|any of them|this at all|those}{|. find something else|. what else is there|. look for another one}",
  "{sorry|actually|sorry but|but|wait}, {i need something else|that is not what i need|i wanted another one|i need the other one|that's not what i wanted|i meant something else|can you try again|can we start over|can you check again|could you look again|i was looking for something different|search again}",
  "{can you|could you|please|can't you|} {try again|check again|look again|search again|try searching again|find again|try it again|try the booking again|try a different one|try another one|find another one|find a different one|find some others|find something else|show me some other ones|show me more options|give me other options|find some other places|try one more time|fix it|correct that}{|, this time for two people|. i wish to have it in the north}",
  "{that won't work|that doesn't work for me|it does not work for me|no that won't work|that is too early|that's too late|that is too expensive for me|that's too far|that might be too expensive for me|that is too long}{|.|. is there anything else|. is there anything later|. what else|. do you have anything cheaper|, i need something else}",
  '{are there any others|are there other options|is there anything else|do you have anything else|do you have other options|what else do you have|anything else available|any other options|any other option|any others|any alternatives|are there any alternatives|are there more options|more options please|other options please|what about another one|how about another one instead|is there a different one|can i get a different one instead|can i have another option|what other options are there|i want to find other ones|i want some other one|anyone else|somewhere else}{|?| please| then}',
  "{that's too bad|that is too bad|oh no|that's unfortunate|that is a shame|oh that's not good|that's disappointing|how disappointing|too bad|bummer|that's a pity|darn|shoot|shame|pity}{.|,|!} {|what else|try another|is there another|then find another|i'll look elsewhere|ok then another one|are you sure|how about tuesday then|can you try another day}",
  "{are you sure|are you certain|are you absolutely sure|are you positive} {|there is nothing|there are no others|there isn't one|about that|that is right|it is closed|there is nothing earlier|you can't find one|it's not available}{|?}",
  '{is there really nothing|is there nothing|are there really none|not even one|so there is nothing} {|in the city|that fits|available|at all|cheaper}{|?}',
  "{this is|that is|that's|it's} {confusing|so confusing|taking too long|not enough|not what i need|not what i'm looking for|not for me|the wrong one|the wrong date|the wrong place|the wrong name|wrong|wrong too|not correct|not working|still not working|still wrong|disappointing|not good enough}",
  "{i am|i'm} {confused|so confused|not satisfied|still not satisfied|not happy with that|frustrated|annoyed|still waiting|lost|out of luck|disappointed|not impressed}",
  "{why|how come} {did you do that|can't you do it|are you asking me that again|is it so hard|don't you understand|do you keep asking|did you change it|is that}",
  '{i already told you|i told you already|i said that already|you already asked me that|again|i repeat|once again|as i said|like i said}, {i need a room|i want a refund|it is for two|on friday|the other one|the address}',
  "{i guess i'm out of luck|i suppose i'll do it myself|i will figure something out|i don't see much of a choice|i'll take what i can get|it will have to do}{|.| then}",
  "{no|no,|sorry|actually|i just|i don't|i do not|it's not|it is not|not|but|again|instead|you didn't|that can't be|no not} {the hotel|the train|the restaurant|a taxi|the price|the area|for me|one|the time|the room}{|.| please| then}",
  "{no|no,|no sorry,|no but|sorry,|i'm sorry,|actually,|actually no,} {i need|i want|i'd like|i would prefer|i'd prefer|i am looking for|i'm looking for|it has to be|i have to have|i really need|i just need} {a cheap one|one in the south|a place in the north instead|a different area|one that serves lunch|an earlier train|one with parking|a bigger room|the address|one that arrives before noon}{| please| if possible|. can you try that}",
  '{no|no,|sorry,|well,|hmm,} {how about|what about|can you try|could you try|can we try|is there one for|do you have one for|then try|please try} {tuesday|one night|another day|another hotel|a different time|a different restaurant|italian food|the cheap one|the east|a guest house}{| instead| then}{|?}',
  "{i don't really care|i really don't care|i do not care|any of those is fine but} {about the area|about the price|which one|it must have parking|it should be cheap|i just need the address|just pick one|can you just pick one|just book one of those}",
  "{but|yes but|ok but|thanks but|that is fine but|i see but} {i need|i asked for|i wanted|i still need|what about|you didn't give me|can you also check|that is} {the address|a cheaper one|the other one|parking|not what i need|too far|the number}",
  "{no|nope|no sorry|sorry no}, {not that one|not this one|something else|another one|a different one|i need another one|i want a different one|that is not it|that's not it|that's not right|it is not right|i meant the other one|make it earlier|make it later|change it|change the date|change the time|find me another|find another|find something else|try another one|show me others|i want something else|i would rather have something else|i'd prefer something else}",
  '{no|nope|actually no|no sorry}, {i need it|i want it|i would like it|it should be|it has to be|make it|i said} {for two people|for tomorrow|for next week|in the morning|at six|on monday|in the city centre|in my room|on the other one|for the other person|instead}',
  "{i don't want|i do not want|i don't need|i do not need|i don't like|i do not like} {that|that one|it|this one|to do that|that anymore|to wait|any of those|any of them|this at all}",
  "{sorry|actually|sorry but|but|wait}, {i need something else|i changed my mind|that is not what i need|i wanted another one|i need the other one|that's not what i wanted|i meant something else|can you try again|can we start over|can you check again|could you look again|i was looking for something different}",
  "{can you|could you|please|can't you} {try again|check again|look again|try a different one|try another one|find another one|find a different one|find some others|show me more|give me other options|change it|fix it|correct that}",
  "{no that isn't right|no please don't|no i don't want that|that won't work|it does not work for me}{|.}",
  "{i don't care|i do not care|i don't care about that|it doesn't matter|i just need|i just want|i only want|i really need|i really just need} {the address|the number|a place|an answer|one|it to work|you to do it|the booking|anything}",
  '{are there any others|are there other options|is there anything else|do you have anything else|do you have other options|what else do you have|anything else available|any other options|any others|are there more options|more options please|other options please|what about another one|how about another one instead|is there a different one|can i get a different one instead}',
  "{that's too bad|that is too bad|oh no|that's unfortunate|that is a shame|oh that's not good|that's disappointing|too bad|bummer|that's a pity}. {what else|try another|is there another|then find another|i'll look elsewhere|never mind then|ok then another one}",
  "{this is|that is|that's|it's} {confusing|so confusing|too expensive|too far|too late|too early|too slow|taking too long|not enough|not what i need|not what i'm looking for|not for me|the wrong one|the wrong date|the wrong place|the wrong name|wrong|not correct|not working|still not working|still wrong}",
  "{i am|i'm} {confused|so confused|not satisfied|still not satisfied|not happy with that|frustrated|annoyed|still waiting|lost}",
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
  "{i don't have a preference|i do not have a preference|no preference|it doesn't matter|no, it doesn't matter|it does not matter to me|any area is fine|either is fine}{|.| about the price| on that| really}{| thanks|. please suggest one}",
  "{i need|i want|i would like|i'm looking for|can you find me|please find|find me|i am searching for|could you find} {a room|a hotel|a restaurant|a train|a taxi|a flight|a table|a doctor|a place to stay|an event|a song|some information|the address|my balance}{| in the centre| in the north| for two people| for tomorrow| on friday| tonight| with parking| please| that is cheap}",
  '{yes|yes please|yeah|yep|sure|ok|okay|correct|right|yes that is correct|yes please do|go ahead|please do}{|.| for two people| on friday| at six| that would be it| i need the address| what is the phone number| book it}',
  "{what is|what's|can i have|could i get|please give me|i need|may i have|do you know} {the address|the phone number|the price|the postcode|the reference number|the rating|their number|the entrance fee|the time|the total}{|?| please| of that place}",
  "{two people|for two|tomorrow|on friday|at six|three nights|the first one|the cheap one|in the north|in the centre|any area|no preference|it doesn't matter which|london|the morning|next week}{| please|.}",
  '{does it have|do they have|is there|do they offer|does the place have|is it} {parking|wifi|free wifi|a pool|live music|vegetarian food|cheap|expensive|open on sunday|near the station|outdoor seating|breakfast}{|?}',
  "{no|no,|nope,|} {i don't need|i do not need|don't need|i won't need} {anything else|anything further|anything more|any other help}{| right now| today|, thanks|, thank you}",
  "{no|no,|} {not now|not right now|not at the moment|not yet|not at this time|not today|maybe later|i don't|i do not|i am not|it is not|it isn't|hold off for now|that won't be necessary|not just yet|i didn't|never mind, i have it}{|.| thanks| thank you}",
  "{i don't know|i do not know|i'm not sure|i don't have one|i don't have it|i do not have that|i forgot}{|.| the number| my code| what it is| where it is| yet}",
  "{my order|my card|the app|the screen|my phone|the internet|the payment|my account|the code|the machine} {is not working|does not work|doesn't work|did not arrive|is wrong|was declined|has stopped working|is broken|did not go through|is not showing}{|.|, what should i do| please help}",
  "{i want to|i'd like to|please|can you|i need to} {cancel my order|change my address|delete my account|dispute a charge|report a problem|cancel the subscription|close my account|stop a payment|get a refund}{| please| because i don't need it anymore|, i do not want it anymore|. it is not what i ordered}",
  "{sorry|oh no|my mistake|oops}{,|.} {i meant friday|i mean the other one|wrong number|i made a typo|for the typo|for the confusion|i should have told you|that's my mistake|that was my fault}",
  "{no|nope|no,|yes|ok|thanks|thank you|} {that should do it|that will do it|that will do|that does it|that's it for now|there is nothing else today|nothing else|that is all, thank you again|thanks again|again, thank you|goodbye again|sorry for the trouble|that's okay|that's fine|i'm good}{|.|!| thanks| bye}",
  "{i need|i'll need|i will need|just|yes, only|for|it's|make it|please book} {one person|two tickets|3 tickets|6 tickets please|one night|two nights|7 people|me|a table for four|one room|8 people}{|, actually|.| starting on monday| please}",
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
